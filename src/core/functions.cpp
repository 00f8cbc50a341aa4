// Functions of the module that are called with arrays: latent variables, hindsight, attacks.
//
// Each checks the sizes of the arrays, and hands them on.
#include "python.hpp"

#include <limits>
#include <stdexcept>

#include "explore.hpp"
#include "filter.hpp"
#include "groups.hpp"
#include "hindsight.hpp"
#include "objects.hpp"

namespace normalhedge::python {

using namespace attacks;
using namespace hindsight;
using namespace latent;
using namespace mixtures;

// By its name.
template <>
struct From<const Loss*> {
    static const Loss* get(PyObject* object) {
        const char* name = PyUnicode_AsUTF8(object);
        if (!name) throw PythonError();
        const Loss* loss = find_loss(name);
        if (!loss) raise(PyExc_ValueError, "the core does not know this loss");
        return loss;
    }
};

// Of an engine, which lives until the function returns.
template <>
struct From<const Hedger*> {
    static const Hedger* get(PyObject* object) {
        if (!PyObject_TypeCheck(object, engine_type))
            raise(PyExc_TypeError, "this function of the core takes an Engine");
        return reinterpret_cast<EngineObject*>(object)->hedger;
    }
};

namespace {

// Numbers that are only read.
using Row = Vector<const double>;
using Sheet = Matrix<const double>;
using Stack = Cube<const double>;
using Items = Vector<const std::int32_t>;

void require(bool fits, const char* words) {
    if (!fits) throw std::invalid_argument(words);
}

std::int64_t whole(size_t number) { return static_cast<std::int64_t>(number); }

template <class Work>
auto maybe_without_lock(bool long_work, const Work& work) {
    if (!long_work) return work();
    WithoutLock free;
    return work();
}

// Latent variables.

constexpr const char* bank_sizes = "the arrays of a bank must be of one size";

Bank bank_of(Stack transition, size_t states, size_t candidates) {
    require(states > 0 && candidates > 0 && transition.layers == states &&
                transition.rows == states && transition.columns == candidates,
            bank_sizes);
    return {states, candidates, transition.data};
}

// The fields of the state of a bank, in their order.
enum Field { beliefs_field, logs_field, rounds_field, impossible_field, fields };

constexpr size_t long_enough = size_t{1} << 10;  // candidates x states, to let other threads run

// filter_observe(state, scores, transition, keep) -> the state after an observation; `scores` is None
// where it is missing. One call with few arguments: with ten candidates these cost most.
PyObject* filter_observe(PyObject*, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        PyObject* state = args[0];
        if (!PyTuple_Check(state) || PyTuple_CheckExact(state) || PyTuple_GET_SIZE(state) != fields)
            raise(PyExc_TypeError, "the core was given something else than the state of a bank");
        const auto beliefs = From<Sheet>::get(PyTuple_GET_ITEM(state, beliefs_field));
        const auto logs = From<Row>::get(PyTuple_GET_ITEM(state, logs_field));
        const auto rounds = From<std::int64_t>::get(PyTuple_GET_ITEM(state, rounds_field));
        const auto impossible = From<std::int64_t>::get(PyTuple_GET_ITEM(state, impossible_field));
        const auto scores = From<std::optional<Sheet>>::get(args[1]);
        const Bank bank = bank_of(From<Stack>::get(args[2]), beliefs.rows, beliefs.columns);
        const double keep = From<double>::get(args[3]);
        require(logs.n == bank.candidates, bank_sizes);
        if (scores)
            require(scores->rows == bank.states && scores->columns == bank.candidates, bank_sizes);
        npy_intp size[] = {static_cast<npy_intp>(bank.states),
                           static_cast<npy_intp>(bank.candidates)};
        Reference new_beliefs = Reference::checked(PyArray_SimpleNew(2, size, NPY_DOUBLE));
        Reference new_logs = Reference::checked(PyArray_SimpleNew(1, size + 1, NPY_DOUBLE));
        Scratch room(room_to_observe(bank));
        const bool refused = maybe_without_lock(bank.size() >= long_enough, [&] {
            return observe(bank, {beliefs.data, logs.data}, scores ? scores->data : nullptr, keep,
                           {data_of<double>(new_beliefs.array()), data_of<double>(new_logs.array())},
                           room.data());
        });
        Reference after = Reference::checked(Py_TYPE(state)->tp_alloc(Py_TYPE(state), fields));
        PyTuple_SET_ITEM(after.get(), beliefs_field, new_beliefs.release());
        PyTuple_SET_ITEM(after.get(), logs_field, new_logs.release());
        PyTuple_SET_ITEM(after.get(), rounds_field,
                         Reference::checked(to_python(rounds + 1)).release());
        PyTuple_SET_ITEM(after.get(), impossible_field,
                         Reference::checked(to_python(impossible + refused)).release());
        return after.release();
    });
}

std::int64_t filter_run(Cube<double> beliefs, Stack scores, Row observations, Stack transition,
                        double keep, Matrix<double> logs) {
    const Bank bank = bank_of(transition, beliefs.rows, beliefs.columns);
    const size_t rounds = observations.n;
    require(scores.layers == rounds && scores.rows == bank.states &&
                scores.columns == bank.candidates && beliefs.layers == rounds + 1 &&
                logs.rows == rounds + 1 && logs.columns == bank.candidates,
            bank_sizes);
    std::int64_t impossible = 0;
    Scratch room(room_to_observe(bank));
    for (size_t t = 0; t < rounds; ++t) {
        const bool missing = observations[t] != observations[t];
        impossible += observe(bank, {beliefs.layer(t).data, logs.row(t)},
                              missing ? nullptr : scores.layer(t).data, keep,
                              {beliefs.layer(t + 1).data, logs.row(t + 1)}, room.data());
    }
    return impossible;
}

// Play the rounds whose observation is not missing, in place, and write the distributions of all
// rounds: a missing round leaves the game as it is. Return how many rounds were well, and the
// hedger's gain in the last that was played.
std::tuple<std::int64_t, double> run_with_gaps(const Hedger* hedger, Vector<double> weights,
                                               Matrix<double> ledger, Vector<double> totals,
                                               Sheet gains, Sheet confidence, Row observations,
                                               Matrix<double> played) {
    const size_t rounds = observations.n;
    const size_t n = weights.n;
    require(n > 0 && ledger.rows == hedger->rows() && ledger.columns == n &&
                totals.n == hedger->totals() && gains.rows == rounds && gains.columns == n &&
                confidence.rows == rounds && confidence.columns == n && played.rows == rounds &&
                played.columns == n,
            "the arrays of a game must be of one size");
    const Columns now{n, n, n, weights.data, ledger.data, totals.data};
    double gain = not_a_number;
    for (size_t t = 0; t < rounds; ++t) {
        hedger->play(now, confidence.row(t), played.row(t));
        if (observations[t] != observations[t]) continue;
        const Gains round_gains(gains.row(t), Gains::Kind::float64);
        const Outcome outcome = hedger->step(now, now, round_gains, confidence.row(t));
        if (outcome.bad) return {whole(t), gain};
        gain = outcome.gain;
    }
    return {whole(rounds), gain};
}

// Hindsight.

void leads(Sheet gains, double keep, Vector<double> result) {
    require(result.n == gains.rows, "there must be a lead for each round");
    Scratch room(gains.columns);
    write_leads(gains.data, gains.rows, gains.columns, keep, result.data, room.data());
}

double best_sequence(Sheet gains, std::int64_t switches, Vector<std::int64_t> experts) {
    const size_t rounds = gains.rows;
    require(rounds > 0 && gains.columns > 0 && experts.n == rounds,
            "there must be gains, and an expert for each round");
    require(switches >= 0 && static_cast<size_t>(switches) < rounds,
            "there must be fewer switches than rounds");
    require(rounds * gains.columns <= std::numeric_limits<size_t>::max() / rounds,
            "there is no room to search so many rounds");
    return find_best_sequence(gains.data, rounds, gains.columns, static_cast<size_t>(switches),
                              experts.data);
}

// `shares` is for the shares of the quantile levels.
Table table_of(Stack forecasts, Row outcomes, Items items, Row levels, const Loss* loss,
               std::vector<double>& shares) {
    shares.assign(levels.n, 1.0 / static_cast<double>(levels.n));
    const Table table{forecasts.layers, forecasts.rows, forecasts.columns, forecasts.data,
                      outcomes.data,    items.data,     levels.data,       levels.n,
                      shares.data(),    loss};
    require(outcomes.n == table.rows && items.n == table.rows && levels.n > 0 && table.classes > 0 &&
                (!loss->of_levels() || levels.n == table.classes),
            "the arrays of a table must be of one size");
    const double classes = static_cast<double>(table.classes);
    for (size_t j = 0; j < table.rows && table.classes > 1 && !loss->of_levels(); ++j)
        require(!table.known(j) || (outcomes[j] >= 0.0 && outcomes[j] < classes),
                "an outcome must be one of the classes");
    return table;
}

void fill_sleepers(Stack forecasts, Row outcomes, Items items, Row levels, const Loss* loss,
                   Way way, Cube<double> filled) {
    std::vector<double> shares;
    const Table table = table_of(forecasts, outcomes, items, levels, loss, shares);
    require(filled.layers == table.rows && filled.rows == table.classes && filled.columns == table.n,
            "there must be room for all forecasts");
    Scratch room(3 * table.n + table.classes);
    fill_all_sleepers(table, way, filled.data, room.data());
}

void write_slope_table(Stack forecasts, Row outcomes, Items items, Row levels, const Loss* loss,
                       Cube<double> slopes) {
    std::vector<double> shares;
    const Table table = table_of(forecasts, outcomes, items, levels, loss, shares);
    require(slopes.layers == table.rows && slopes.rows == table.classes && slopes.columns == table.n,
            "there must be a slope for each number");
    write_all_slopes(table, slopes.data);
}

std::int64_t write_loss_table(Stack forecasts, Row outcomes, Items items, Row levels,
                              const Loss* loss, Way way, Matrix<double> losses) {
    std::vector<double> shares;
    const Table table = table_of(forecasts, outcomes, items, levels, loss, shares);
    require(losses.rows == table.rows && losses.columns == table.n,
            "there must be a loss for each row and expert");
    Scratch room(3 * table.n + table.classes);
    return whole(write_all_losses(table, way, losses.data, room.data()));
}

// Attacks.

Groups groups_of(Row sizes, double alpha, double c) {
    require(sizes.n > 0, "there must be a group");
    return {sizes.data, sizes.n, alpha, c};
}

void follow_groups(Row sizes, Sheet gains, double alpha, double c, Vector<double> leads,
                   Vector<double> logs) {
    const Groups groups = groups_of(sizes, alpha, c);
    require(gains.columns == groups.count && leads.n == gains.rows && logs.n == gains.rows,
            "there must be a gain for each group, and a lead for each round");
    Scratch room(2 * groups.count);
    follow_gains(groups, gains.data, gains.rows, leads.data, logs.data, room.data());
}

std::tuple<std::int64_t, double, double> hold_groups(Row sizes, double share, double climb,
                                                     double alpha, double c,
                                                     std::int64_t patience, std::int64_t longest,
                                                     Matrix<std::int8_t> table) {
    const Groups groups = groups_of(sizes, alpha, c);
    require(table.columns == groups.count, "there must be a gain for each group");
    require(patience >= 0 && longest >= 0, "patience and longest must not be negative");
    const Holding holding{share, climb, static_cast<size_t>(patience),
                          static_cast<size_t>(longest)};
    Scratch room(3 * groups.count);
    const Held held = hold_and_break_away(groups, holding, table.data, table.rows, room.data());
    return {whole(held.rounds), held.log_potential, held.regret};
}

// base^exponent, or the largest number there is.
size_t power(size_t base, size_t exponent) {
    constexpr size_t most = std::numeric_limits<size_t>::max();
    size_t result = 1;
    for (size_t k = 0; k < exponent; ++k) result = result > most / base ? most : result * base;
    return result;
}

std::tuple<std::int64_t, bool> explore_groups(
    Row sizes, Sheet moves, double alpha, double c, double floor, double width, std::int64_t cells,
    Vector<const std::int16_t> path, std::int64_t rounds, Vector<std::int32_t> keeper,
    Matrix<double> states, Vector<double> logs, Vector<std::int32_t> parents,
    Vector<std::int16_t> taken) {
    const Groups groups = groups_of(sizes, alpha, c);
    const size_t room = states.rows;
    require(moves.columns == groups.count && states.columns == groups.count && logs.n == room &&
                parents.n == room && taken.n == room && path.n < room,
            "the arrays of a search must be of one size");
    require(room <= std::numeric_limits<std::int32_t>::max() &&
                moves.rows <= std::numeric_limits<std::int16_t>::max(),
            "there must not be more states or moves than their numbers can count");
    require(width > 0.0 && cells > 0 &&
                power(static_cast<size_t>(cells), groups.count) == keeper.n,
            "there must be a keeper for each cell");
    for (size_t t = 0; t < path.n; ++t)
        require(path[t] >= 0 && static_cast<size_t>(path[t]) < moves.rows,
                "a path must be made of moves");
    std::fill(keeper.data, keeper.data + keeper.n, -1);
    const Grid grid{floor, width, cells, keeper.data};
    const Moves all{moves.rows, moves.data};
    Tree tree{room, states.data, logs.data, parents.data, taken.data};
    Scratch weights(3 * groups.count);
    walk(groups, all, grid, path.data, path.n, tree, weights.data());
    const bool finished = search_breadth_first(groups, all, grid, rounds, tree, weights.data());
    return {whole(tree.count), finished};
}

PyMethodDef functions[] = {
    bind<best_sequence>("best_sequence", "Write the best sequence of experts; return its total."),
    bind<explore_groups>("explore_groups",
                         "Search the states of groups; return how many, and whether that is all."),
    bind<fill_sleepers>("fill_sleepers",
                        "Write the forecasts of each expert, and the even combination where it sleeps."),
    fast("filter_observe", filter_observe, "Return the state of a bank after an observation."),
    bind<filter_run>("filter_run",
                     "Write where candidates stand along a sequence; return how many observations "
                     "all found impossible."),
    bind<follow_groups>("follow_groups", "Write the largest x and ln Psi after each row of gains."),
    bind<hold_groups>("hold_groups",
                      "Write the gains that hold groups and break away; return how many rounds, "
                      "the highest ln Psi and the largest x."),
    bind<leads>("leads", "Write the largest discounted total after each round."),
    bind<run_with_gaps>("run_with_gaps",
                        "Play the rounds that are not missing, in place; return how many were "
                        "well, and the last gain."),
    bind<write_loss_table>("write_loss_table",
                           "Write the loss of each expert in each row; return how many count."),
    bind<write_slope_table>("write_slope_table",
                            "Write the derivative of the loss by each number of each forecast."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_functions(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge::python
