// How Python hands hidden Markov models to the core: families by name, models in blocks of numbers.
#pragma once

#include "python.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "online_em.hpp"

namespace normalhedge::python {

using namespace latent;

struct FamilyName {
    const char* name;
};

template <>
struct From<FamilyName> {
    static FamilyName get(PyObject* object) {
        const char* name = PyUnicode_AsUTF8(object);
        if (!name) throw PythonError();
        return {name};
    }
};


using Row = Vector<const double>;
using Sheet = Matrix<const double>;

constexpr const char* sizes = "the arrays of a fit must be of one size";

inline void require(bool fits, const char* words) {
    if (!fits) throw std::invalid_argument(words);
}

template <class... Family>
constexpr std::array<const char*, sizeof...(Family)> names_of(const std::tuple<Family...>*) {
    return {Family::name...};
}
constexpr auto family_names = names_of(static_cast<const Families*>(nullptr));

inline size_t family_place(FamilyName family) {
    for (size_t i = 0; i < family_names.size(); ++i)
        if (std::strcmp(family.name, family_names[i]) == 0) return i;
    throw std::invalid_argument("the core does not know this family");
}

template <class Family>
Family make_family(size_t columns, size_t rows, const Guards& guards) {
    require(columns == 1 || !Family::one_column, "this family has one column");
    Family family{};
    family.columns = columns;
    family.guards = guards;
    if constexpr (std::is_same_v<Family, Categorical>) family.symbols = rows;
    return family;
}

// Call a function with the family at this place; `rows` counts its parameters.
template <size_t candidate = 0, class Work>
auto with_family(size_t place, size_t columns, size_t rows, Row guards, const Work& work) {
    using Family = std::tuple_element_t<candidate, Families>;
    if (place == candidate) {
        require(guards.n == 3 && columns > 0, sizes);
        const Guards limits{guards[0], guards[1], guards[2]};
        if constexpr (std::is_same_v<Family, Gaussian>)
            if (columns == 1) return work(make_family<Normal>(columns, rows, limits));
        return work(make_family<Family>(columns, rows, limits));
    }
    if constexpr (candidate + 1 < family_names.size())
        return with_family<candidate + 1>(place, columns, rows, guards, work);
    else
        throw std::invalid_argument(sizes);
}
template <class Work>
auto with_family(FamilyName family, size_t columns, size_t rows, Row guards, const Work& work) {
    return with_family(family_place(family), columns, rows, guards, work);
}

inline Series series_of(Sheet observations) {
    return {observations.data, observations.rows, observations.columns};
}

// Whether symbols have probabilities and counts have factorials.
template <class Family>
void check_values(const Family&, const Series&) {}
inline void check_values(const Categorical& family, const Series& series) {
    for (size_t t = 0; t < series.rounds; ++t) {
        const double y = series.data[t];
        require(y != y || (y >= 0.0 && y < static_cast<double>(family.symbols)),
                "an observation must be one of the symbols");
    }
}
inline void check_counts(const Series& series) {
    for (size_t t = 0; t < series.rounds; ++t)
        require(!(series.data[t] < 0.0), "counts must not be negative");
}
inline void check_values(const Poisson&, const Series& series) { check_counts(series); }
inline void check_values(const NegativeBinomial&, const Series& series) { check_counts(series); }

template <class Family>
Family for_online(const Family& family) {
    return family;
}
inline NegativeBinomial for_online(const NegativeBinomial& family) {
    NegativeBinomial result = family;
    result.by_moments = true;
    return result;
}

// Models that learn online lie in one block of numbers, one after the other. A model has a row of
// `shapes`: the place of its family, its states, the rows of its parameters and where it begins in the
// block; and a row of `settings`: rate, relative floor, and the three guards.
constexpr size_t shape_numbers = 4, setting_numbers = 6, online_fields = 7;

using Shape = Vector<const std::int64_t>;

// Where the fields of a model begin, and where the last one ends. Fields in the order of `Online`:
// filter, transition, parameters, moves, sums, previous, spread.
template <class Family>
std::array<size_t, online_fields + 1> online_layout(const Family& family, size_t begin, size_t k) {
    const size_t sizes[] = {k, k * k, family.rows() * k, k * k * k, k * family.statistics() * k,
                            family.columns, 2 * family.columns};
    std::array<size_t, online_fields + 1> result{begin};
    for (size_t i = 0; i < online_fields; ++i) result[i + 1] = result[i] + sizes[i];
    return result;
}

// Call a function with a model: its family and its layout.
template <class Work>
auto with_online(Shape shape, Row guards, size_t columns, const Work& work) {
    constexpr std::int64_t most = 1 << 20;
    require(shape.n == shape_numbers && shape[0] >= 0 &&
                shape[0] < static_cast<std::int64_t>(family_names.size()) && shape[1] > 0 &&
                shape[1] < most && shape[2] > 0 && shape[2] < most && shape[3] >= 0,
            sizes);
    const auto rows = static_cast<size_t>(shape[2]);
    return with_family(static_cast<size_t>(shape[0]), columns, rows, guards, [&](const auto& batch_family) {
        const auto family = for_online(batch_family);
        require(rows == family.rows(), sizes);
        return work(family, online_layout(family, static_cast<size_t>(shape[3]),
                                          static_cast<size_t>(shape[1])));
    });
}

// The same with the numbers of the model, which are part of a block.
template <class Work>
auto with_online(Shape shape, Row settings, size_t columns, Vector<double> block, const Work& work) {
    require(settings.n == setting_numbers, sizes);
    return with_online(shape, {settings.data + 2, 3}, columns,
                       [&](const auto& family, const auto& places) {
                           require(places[online_fields] <= block.n, sizes);
                           double* const at = block.data;
                           return work(family, Online{{static_cast<size_t>(shape[1]), at + places[0],
                                                       at + places[1]},
                                                      at + places[2], at + places[3], at + places[4],
                                                      at + places[5], at + places[6]});
                       });
}

}  // namespace normalhedge::python
