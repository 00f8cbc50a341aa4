// `normalhedge._core.Candidates`: candidates that observe the same series. Nothing in it changes.
#include "candidates.hpp"

#include "objects.hpp"

namespace normalhedge::python {

namespace {

struct CandidatesObject {
    PyObject_HEAD
    Candidates* candidates;  // owned
};

const Candidates& candidates_of(PyObject* object) {
    return *reinterpret_cast<CandidatesObject*>(object)->candidates;
}

template <class T>
T item(PyObject* tuple, Py_ssize_t place) {
    require(PyTuple_Check(tuple) && place < PyTuple_GET_SIZE(tuple), sizes);
    return From<T>::get(PyTuple_GET_ITEM(tuple, place));
}

size_t whole(PyObject* tuple, Py_ssize_t place) {
    const auto value = item<std::int64_t>(tuple, place);
    require(value >= 0 && value < 1 << 20, sizes);
    return static_cast<size_t>(value);
}

template <class Work>
void for_each(PyObject* tuple, const Work& work) {
    require(PyTuple_Check(tuple), sizes);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) work(PyTuple_GET_ITEM(tuple, i));
}

// Add a model with fixed parameters: (row, label, family, initial, transition, parameters).
void add_fixed(Candidates& all, PyObject* model, std::vector<Sheet>& moves) {
    const Row first = item<Row>(model, 3);
    const Sheet steps = item<Sheet>(model, 4), rows = item<Sheet>(model, 5);
    const size_t k = first.n;
    require(k > 0 && k <= all.width && steps.rows == k && steps.columns == k && rows.columns == k, sizes);
    all.fixed.push_back({whole(model, 0), whole(model, 1)});
    for (const size_t number : {whole(model, 2), k, rows.rows, all.parameters.size()})
        all.shapes.push_back(static_cast<std::int64_t>(number));
    all.parameters.insert(all.parameters.end(), rows.data, rows.data + rows.rows * k);
    all.initial.insert(all.initial.end(), first.data, first.data + k);
    all.initial.resize(all.fixed.size() * all.width, 0.0);
    moves.push_back(steps);
}

// Add a model with online EM: (row, label, shape, settings, centre, width), and where it begins in the block.
void add_online(Candidates& all, PyObject* model, size_t& end) {
    const Shape shape = item<Shape>(model, 2);
    const Row settings = item<Row>(model, 3), centre = item<Row>(model, 4), width = item<Row>(model, 5);
    require(shape.n == shape_numbers && settings.n == setting_numbers && centre.n == all.columns &&
                width.n == all.columns,
            sizes);
    OnlineModel made{{whole(model, 0), whole(model, 1)}, {}, {}, {}, {}, 0.0};
    std::copy_n(shape.data, shape.n, made.shape.begin());
    std::copy_n(settings.data, settings.n, made.settings.begin());
    made.shape[3] = static_cast<std::int64_t>(end);
    made.centre.assign(centre.data, centre.data + centre.n);
    made.width.assign(width.data, width.data + width.n);
    for (size_t c = 0; c < all.predicted; ++c) made.log_width += std::log(width[c]);
    end = with_online(made.form(), {settings.data + 2, 3}, all.columns,
                      [](const auto&, const auto& places) { return places[online_fields]; });
    require(made.states() <= all.width, sizes);
    all.online.push_back(std::move(made));
}

// Add a model without hidden states: (row, label, process, family, width, grid, memory).
void add_other(Candidates& all, PyObject* model) {
    const Sheet grid = item<Sheet>(model, 5);
    require(grid.rows == 2, sizes);
    all.others.push_back({{whole(model, 0), whole(model, 1)}, item<Text>(model, 2).text, item<Text>(model, 3).text,
                          item<std::int64_t>(model, 4), {grid.data, grid.data + 2 * grid.columns},
                          item<double>(model, 6)});
}

// Candidates(columns, predicted, states, count, fixed, online, others), with tuples of tuples. Further candidates, which
// the core does not know, have the other rows.
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([&]() -> PyObject* {
        auto made = std::make_unique<Candidates>();
        made->columns = whole(arguments, 0), made->predicted = whole(arguments, 1), made->width = whole(arguments, 2);
        made->count = whole(arguments, 3);
        require(made->columns > 0 && made->predicted > 0 && made->predicted <= made->columns && made->width > 0, sizes);
        std::vector<Sheet> moves;
        size_t end = 0;
        require(PyTuple_GET_SIZE(arguments) == 7, sizes);
        for_each(PyTuple_GET_ITEM(arguments, 4), [&](PyObject* model) { add_fixed(*made, model, moves); });
        for_each(PyTuple_GET_ITEM(arguments, 5), [&](PyObject* model) { add_online(*made, model, end); });
        for_each(PyTuple_GET_ITEM(arguments, 6), [&](PyObject* model) { add_other(*made, model); });
        const size_t n = made->fixed.size();
        made->moves.assign(made->width * made->beliefs(), 0.0);
        for (size_t i = 0; i < n; ++i)
            for (size_t r = 0; r < moves[i].rows; ++r)
                for (size_t s = 0; s < moves[i].columns; ++s)
                    made->moves[(r * made->width + s) * n + i] = moves[i].row(r)[s];
        const auto check = [&](const Place& place) { require(place.row < made->count, sizes); };
        for (const Place& place : made->fixed) check(place);
        for (const auto& model : made->online) check(model.place);
        for (const auto& model : made->others) check(model.place);
        made->models().check(made->width);
        made->packed = pack_states(made->models(), made->width);
        Reference object = Reference::checked(type->tp_alloc(type, 0));
        reinterpret_cast<CandidatesObject*>(object.get())->candidates = made.release();
        return object.release();
    });
}

void destroy(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    delete reinterpret_cast<CandidatesObject*>(object)->candidates;
    type->tp_free(object);
    Py_DECREF(type);
}

// Where candidates stand, as Python holds it: beliefs, K x n; the block of online EM; a tuple of arrays, which belong to
// the models without hidden states, each behind the number of its columns or symbols.
struct Standing {
    Sheet beliefs;
    Row block;
    std::vector<Row> others;

    Standing(const Candidates& all, PyObject* const* arguments)
        : beliefs(From<Sheet>::get(arguments[0])), block(From<Row>::get(arguments[1])) {
        for_each(arguments[2], [&](PyObject* numbers) {
            others.push_back(From<Row>::get(numbers));
            require(others.back().n > 0, sizes);
        });
        require(beliefs.rows * beliefs.columns == all.beliefs() && others.size() == all.others.size(), sizes);
    }
    // The same for functions that take all numbers by one type, and only read them.
    Vector<double> only_read_block() const { return only_read(block); }
    std::vector<Vector<double>> only_read_others() const {
        std::vector<Vector<double>> result;
        for (const Row& numbers : others) result.push_back(only_read({numbers.data + 1, numbers.n - 1}));
        return result;
    }
    static Vector<double> only_read(Row numbers) { return {const_cast<double*>(numbers.data), numbers.n}; }
};

Reference tuple_of(std::vector<Reference> parts) {
    Reference tuple = Reference::checked(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
    for (size_t i = 0; i < parts.size(); ++i)
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), parts[i].release());
    return tuple;
}

Reference zeros(std::initializer_list<size_t> shape) {
    Reference array = new_array(shape);
    std::memset(PyArray_DATA(array.array()), 0, static_cast<size_t>(PyArray_NBYTES(array.array())));
    return array;
}

// run(beliefs, block, others, previous, observations): where candidates stand afterwards, and the results of the rounds.
PyObject* run(PyObject* object, PyObject* const* arguments, Py_ssize_t given) {
    return guarded([&] {
        check_count(given, 5);
        const Candidates& all = candidates_of(object);
        const Standing before(all, arguments);
        const Row previous = From<Row>::get(arguments[3]);
        const Sheet seen = From<Sheet>::get(arguments[4]);
        const size_t T = seen.rows, N = all.count, K = all.width, d = all.predicted, n = all.fixed.size();
        require(T > 0 && previous.n == all.columns && seen.columns == all.columns, sizes);
        std::vector<double> series(previous.data, previous.data + previous.n);
        series.insert(series.end(), seen.data, seen.data + T * seen.columns);
        std::vector<double> states((T + 1) * all.beliefs());
        std::copy_n(before.beliefs.data, all.beliefs(), states.begin());
        Reference block = new_array({before.block.n}, before.block.data);
        std::vector<Reference> others;
        std::vector<Vector<double>> numbers;
        for (const Row& old : before.others) {
            others.push_back(new_array({old.n}, old.data));
            numbers.push_back({data_of<double>(others.back().array()) + 1, old.n - 1});
        }
        std::vector<Reference> rounds;
        rounds.push_back(zeros({T, N}));
        rounds.push_back(zeros({T, N, K}));
        rounds.push_back(zeros({T, N, d}));
        rounds.push_back(zeros({T, N, d}));
        const auto at = [&](size_t i) { return data_of<double>(rounds[i].array()); };
        {
            WithoutLock free;
            all.run({series.data(), T + 1, all.columns}, states.data(),
                    {data_of<double>(block.array()), before.block.n}, numbers, {at(0), at(1), at(2), at(3)});
        }
        std::vector<Reference> now;
        now.push_back(new_array({K, n}, states.data() + T * all.beliefs()));
        now.push_back(new_array({N, K}, at(1) + (T - 1) * N * K));
        now.push_back(std::move(block));
        now.push_back(tuple_of(std::move(others)));
        std::vector<Reference> both;
        both.push_back(tuple_of(std::move(now)));
        both.push_back(tuple_of(std::move(rounds)));
        return tuple_of(std::move(both)).release();
    });
}

// The parts as tuples: label, shares, and parameters, rows x states.
PyObject* to_tuples(const std::vector<Part>& parts) {
    std::vector<Reference> result;
    for (const Part& part : parts) {
        const size_t m = part.shares.size();
        Reference rows = new_array({part.rows, m});
        double* to = data_of<double>(rows.array());
        for (size_t i = 0; i < part.rows; ++i)
            for (size_t s = 0; s < m; ++s) to[i * m + s] = part.columns[s][i];
        std::vector<Reference> three;
        three.push_back(Reference::checked(to_python(static_cast<std::int64_t>(part.label))));
        three.push_back(new_array({m}, part.shares.data()));
        three.push_back(std::move(rows));
        result.push_back(tuple_of(std::move(three)));
    }
    return tuple_of(std::move(result)).release();
}

// mix(beliefs, block, others, weights): the mixture of all candidates in the next round.
PyObject* mix(PyObject* object, PyObject* const* arguments, Py_ssize_t given) {
    return guarded([&] {
        check_count(given, 4);
        const Candidates& all = candidates_of(object);
        const Standing now(all, arguments);
        const Row weights = From<Row>::get(arguments[3]);
        require(weights.n == all.count, sizes);
        return to_tuples(all.mix(now.beliefs.data, now.only_read_block(), now.only_read_others(), weights));
    });
}

// states(block): the parameters of all hidden states.
PyObject* states(PyObject* object, PyObject* const* arguments, Py_ssize_t given) {
    return guarded([&] {
        check_count(given, 1);
        const Candidates& all = candidates_of(object);
        const std::vector<double> none(all.count * all.width);
        return to_tuples(all.states_of(Standing::only_read(From<Row>::get(arguments[0])), none.data()));
    });
}

// predict(beliefs, block, others): the probabilities of all states in the next round, N x K.
PyObject* predict(PyObject* object, PyObject* const* arguments, Py_ssize_t given) {
    return guarded([&] {
        check_count(given, 3);
        const Candidates& all = candidates_of(object);
        const Standing now(all, arguments);
        Reference result = zeros({all.count, all.width});
        all.predict(now.beliefs.data, now.only_read_block(), data_of<double>(result.array()));
        return result.release();
    });
}

// smooth(block, observations): the smoothed probabilities of states, N x T x K.
PyObject* smooth(PyObject* object, PyObject* const* arguments, Py_ssize_t given) {
    return guarded([&] {
        check_count(given, 2);
        const Candidates& all = candidates_of(object);
        const Row block = From<Row>::get(arguments[0]);
        const Sheet seen = From<Sheet>::get(arguments[1]);
        require(seen.rows > 0 && seen.columns == all.columns, sizes);
        Reference result = zeros({all.count, seen.rows, all.width});
        {
            WithoutLock free;
            all.smooth(Standing::only_read(block), seen, data_of<double>(result.array()));
        }
        return result.release();
    });
}

PyMethodDef methods[] = {
    fast("mix", mix, "Return the mixture of all candidates in the next round: labels, shares, parameters."),
    fast("predict", predict, "Return the probabilities of all states in the next round."),
    fast("run", run, "Observe rounds: return where candidates stand after them, and their results."),
    fast("smooth", smooth, "Return the smoothed probabilities of all states."),
    fast("states", states, "Return the parameters of all hidden states: labels, zeros, parameters."),
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"normalhedge._core.Candidates", sizeof(CandidatesObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

void add_candidates(PyObject* module) {
    Reference type = Reference::checked(PyType_FromSpec(&spec));
    if (PyModule_AddObjectRef(module, "Candidates", type.get()) < 0) throw PythonError();
}

}  // namespace normalhedge::python
