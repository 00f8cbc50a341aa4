// Hidden Markov models with fixed parameters, of several families, in one array of numbers.
#pragma once

#include "fitting.hpp"

namespace normalhedge::python {

// Hidden Markov models with fixed parameters. A model has a row of `shapes`: the place of its
// family, its states, the rows of its parameters and where these begin in `parameters`.
struct Models {
    Matrix<const std::int64_t> shapes;
    Row parameters;
    size_t columns;

    size_t states(size_t n) const { return static_cast<size_t>(shapes.row(n)[1]); }

    void check(size_t most) const {
        require(shapes.columns == 4 && columns > 0, sizes);
        for (size_t n = 0; n < shapes.rows; ++n) {
            const std::int64_t* shape = shapes.row(n);
            const auto size = static_cast<std::int64_t>(parameters.n);
            require(shape[1] > 0 && shape[1] <= static_cast<std::int64_t>(most) && shape[2] > 0 &&
                        shape[2] <= size && shape[3] >= 0 && shape[3] <= size &&
                        shape[1] * shape[2] <= size - shape[3],
                    sizes);
        }
    }

    // Call a function with a model's family and its parameters.
    template <class Work>
    auto with(size_t n, const Work& work) const {
        const double none[] = {0.0, 0.0, 0.0};
        const std::int64_t* shape = shapes.row(n);
        const auto rows = static_cast<size_t>(shape[2]);
        // The parameters are read only: families take both kinds by one type.
        auto* numbers = const_cast<double*>(parameters.data) + shape[3];
        return with_family(static_cast<size_t>(shape[0]), columns, rows, {none, 3},
                           [&](const auto& family) {
                               require(rows == family.rows(), sizes);
                               return work(family, numbers);
                           });
    }
};

// Doubles for each state that hold the constants of its density, where they are plain numbers.
constexpr size_t packed_numbers = 4;

template <class Family>
constexpr bool packs = std::is_trivially_copyable_v<typename Family::State> &&
                       sizeof(typename Family::State) <= packed_numbers * sizeof(double);

// The constants of the density in each state, models x K x `packed_numbers`.
inline std::vector<double> pack_states(const Models& models, size_t most) {
    std::vector<double> packed(models.shapes.rows * most * packed_numbers);
    for (size_t n = 0; n < models.shapes.rows; ++n)
        models.with(n, [&](const auto& family, double* numbers) {
            using Family = std::decay_t<decltype(family)>;
            const size_t k = models.states(n);
            for (size_t s = 0; s < k; ++s) {
                if constexpr (packs<Family>) {
                    const auto state = family.state({numbers, k, s});
                    std::memcpy(packed.data() + (n * most + s) * packed_numbers, &state, sizeof state);
                }
            }
        });
    return packed;
}

}  // namespace normalhedge::python
