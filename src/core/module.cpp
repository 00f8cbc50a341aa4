// `normalhedge._core`: the loops over experts.
#define NORMALHEDGE_MODULE
#include "python.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include "objects.hpp"
#include "threads.hpp"

namespace normalhedge::python {

using namespace engine;
using namespace mixtures;

namespace {

// How many cores this process may use.
size_t usable_cores() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

void set_slicing(std::int64_t slice, std::int64_t large, std::int64_t cores) {
    if (slice <= 0 || slice % static_cast<std::int64_t>(block) || large <= 0 || cores <= 0)
        throw std::invalid_argument("slices must be whole blocks, and all numbers positive");
    slicing = {static_cast<size_t>(slice), static_cast<size_t>(large), static_cast<size_t>(cores)};
}

std::tuple<std::int64_t, std::int64_t, std::int64_t> get_slicing() {
    return {static_cast<std::int64_t>(slicing.slice), static_cast<std::int64_t>(slicing.large),
            static_cast<std::int64_t>(slicing.cores)};
}

// The functions of `numbers.hpp` on arrays, for tests.
template <double (*function)(double)>
void on_array(Vector<const double> x, Vector<double> result) {
    if (x.n != result.n) throw std::invalid_argument("both arrays must have the same length");
    for (size_t i = 0; i < x.n; ++i) result[i] = function(x[i]);
}

double combine_numbers(Vector<const double> forecasts, Vector<const double> weights, Way way) {
    if (forecasts.n != weights.n) throw std::invalid_argument("there must be a weight for each forecast");
    Scratch room(2 * forecasts.n);
    double result;
    combine({forecasts.data, 1, forecasts.n, forecasts.n}, weights.data, way, room.data(), &result);
    return result;
}

PyMethodDef methods[] = {
    bind<combine_numbers>("combine", "Return the combination of forecasts with weights."),
    bind<set_slicing>("set_slicing", "Set how long arrays are cut: slice, large, cores."),
    bind<get_slicing>("get_slicing", "Return how long arrays are cut: slice, large, cores."),
    bind<on_array<exp2>>("exp2", "Write 2^x."),
    bind<on_array<log>>("log", "Write ln x."),
    bind<on_array<log1p>>("log1p", "Write ln(1 + x)."),
    bind<on_array<one_less_exp>>("one_less_exp", "Write 1 - e^-x."),
    bind<on_array<excess_of_exp>>("excess_of_exp", "Write e^x - 1 - x."),
    bind<on_array<erfcx>>("erfcx", "Write exp(x^2) erfc(x)."),
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "normalhedge._core", "The loops over experts.", -1, methods,
    nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

}  // namespace normalhedge::python

PyMODINIT_FUNC PyInit__core() {
    using namespace normalhedge;
    using namespace normalhedge::python;
    import_array();
    return guarded([&]() -> PyObject* {
        slicing.cores = usable_cores();
        Reference module = Reference::checked(PyModule_Create(&definition));
        add_engine(module.get());
        add_live(module.get());
        add_turn(module.get());
        add_functions(module.get());
        add_fitting(module.get());
        add_latent_rounds(module.get());
        add_series_models(module.get());
        add_candidates(module.get());
        add_conformal(module.get());
        add_routing(module.get());
        return module.release();
    });
}
