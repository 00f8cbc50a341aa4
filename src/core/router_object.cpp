// `normalhedge._core.Routing`: a router that Python asks. All changes are made here, none in the middle of Python.
#include "python.hpp"

#include "objects.hpp"
#include "routing/hedger_rule.hpp"
#include "routing/restarts.hpp"
#include "routing/router.hpp"
#include "routing/tsallis_inf.hpp"

namespace normalhedge::python {

namespace {

using namespace routing;

struct RoutingObject {
    PyObject_HEAD
    Router* router;        // owned
    PyObject* choice;      // the type of a choice, a kind of tuple
    PyObject* names;       // a tuple of the actions there are
    PyObject* every;       // a tuple of all actions that ever joined, by their numbers
    PyObject* numbers;     // a dict: the last number of each of these
    PyObject* contexts;    // a dict: the number of each context that has a rule of its own
    double low, high;      // the range of the gains
};

RoutingObject& self_of(PyObject* object) { return *reinterpret_cast<RoutingObject*>(object); }
Router& router_of(PyObject* object) { return *self_of(object).router; }

// Rules, from tuples: ("hedger", engine, clocked), ("tsallis",), ("maillard", keep, keenness) or
// ("restarts", keenness, fade).
struct Recipe {
    enum Kind { hedger, tsallis, maillard, restarts } kind;
    std::shared_ptr<const Hedger> engine;
    bool clocked;
    double first, second;

    std::unique_ptr<Rule> make() const {
        switch (kind) {
            case hedger: return std::make_unique<HedgerRule>(engine, clocked);
            case tsallis: return std::make_unique<TsallisINF>();
            case restarts: return std::make_unique<Restarts>(first, second);
            case maillard: break;
        }
        return std::make_unique<Maillard>(first, second);
    }
};

Recipe recipe_of(PyObject* words) {
    const char* kind;
    PyObject* first = nullptr;
    PyObject* second = nullptr;
    if (!PyTuple_Check(words) || !PyArg_ParseTuple(words, "s|OO", &kind, &first, &second)) throw PythonError();
    const std::string name(kind);
    if (name == "tsallis") return {Recipe::tsallis, nullptr, false, 1.0, 1.0};
    if (!second) raise(PyExc_ValueError, "a rule was given too few settings");
    if (name == "maillard" || name == "restarts")
        return {name == "maillard" ? Recipe::maillard : Recipe::restarts, nullptr, false, From<double>::get(first),
                From<double>::get(second)};
    if (name != "hedger" || Py_TYPE(first) != engine_type) raise(PyExc_ValueError, "the core has no such rule");
    Py_INCREF(first);
    const auto release = [first](const Hedger*) { Py_DECREF(first); };
    const bool clocked = From<bool>::get(second);
    return {Recipe::hedger, {reinterpret_cast<EngineObject*>(first)->hedger, release}, clocked, 1.0, 1.0};
}

template <class T, class Read>
std::vector<T> list_of(PyObject* sequence, const Read& read) {
    Reference items = Reference::checked(PySequence_Fast(sequence, "the core was given no sequence"));
    std::vector<T> result;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
        result.push_back(read(PySequence_Fast_GET_ITEM(items.get(), i)));
    return result;
}

// Routing(rules, prior, low, high, max_pending, history, most_contexts, seed, budget, choice)
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([&]() -> PyObject* {
        PyObject *rules, *prior, *choice;
        double low, high, budget;
        long long max_pending, history, contexts;
        unsigned long long seed;
        if (!PyArg_ParseTuple(arguments, "OOddLLLKdO!", &rules, &prior, &low, &high, &max_pending, &history,
                              &contexts, &seed, &budget, &PyType_Type, &choice))
            throw PythonError();
        if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(choice), &PyTuple_Type))
            raise(PyExc_TypeError, "a choice must be a kind of tuple");
        const auto recipes = list_of<Recipe>(rules, recipe_of);
        const auto shares = list_of<double>(prior, From<double>::get);
        if (recipes.empty() || recipes.size() != shares.size())
            raise(PyExc_ValueError, "there must be a share for each rule");
        auto make = std::make_shared<const Learner::Make>([recipes, shares](size_t) -> std::unique_ptr<Rule> {
            if (recipes.size() == 1) return recipes.front().make();
            std::vector<std::unique_ptr<Rule>> made;
            for (const Recipe& recipe : recipes) made.push_back(recipe.make());
            return std::make_unique<OverRules>(std::move(made), shares);
        });
        auto router = std::make_unique<Router>(Learner(make, contexts), max_pending, history, seed);
        router->budget.limit = budget;
        Reference object = Reference::checked(type->tp_alloc(type, 0));
        RoutingObject& self = self_of(object.get());
        self.names = Reference::checked(PyTuple_New(0)).release();
        self.every = Reference::checked(PyTuple_New(0)).release();
        self.numbers = Reference::checked(PyDict_New()).release();
        self.contexts = Reference::checked(PyDict_New()).release();
        self.choice = Reference::borrowed(choice).release();
        self.router = router.release();
        self.low = low;
        self.high = high;
        return object.release();
    });
}

void destroy(PyObject* object) {
    RoutingObject& self = self_of(object);
    PyTypeObject* type = Py_TYPE(object);
    delete self.router;
    for (PyObject* part : {self.choice, self.names, self.every, self.numbers, self.contexts}) Py_XDECREF(part);
    type->tp_free(object);
    Py_DECREF(type);
}

size_t whole(PyObject* object) {
    const int64_t number = From<int64_t>::get(object);
    if (number < 0) raise(PyExc_ValueError, "the core was given a negative place");
    return static_cast<size_t>(number);
}

std::optional<std::vector<size_t>> places_of(PyObject* object, size_t n) {
    if (object == Py_None) return std::nullopt;
    auto places = list_of<size_t>(object, whole);
    for (size_t k = 0; k < places.size(); ++k)
        if (places[k] >= n || (k && places[k] <= places[k - 1])) raise(PyExc_ValueError, "places must rise");
    return places;
}

// choose(context, awake, seen) -> a choice; `awake` and `seen` are places in rising order, or None.
PyObject* choose(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        RoutingObject& self = self_of(object);
        Router& router = *self.router;
        const size_t n = router.learner().count();
        const auto awake = places_of(args[1], n);
        const auto seen = places_of(args[2], n);
        if (n == 0 || (awake && awake->empty())) raise(PyExc_ValueError, "there must be an action to choose");
        Reference distribution = new_array({n});
        auto* type = reinterpret_cast<PyTypeObject*>(self.choice);
        Reference choice = Reference::checked(type->tp_alloc(type, 4));
        const int64_t context = From<int64_t>::get(args[0]);
        Router::Draft draft = router.prepare(context, awake ? &*awake : nullptr, seen ? &*seen : nullptr,
                                             data_of<double>(distribution.array()));
        PyObject* name = PyTuple_GET_ITEM(self.names, static_cast<Py_ssize_t>(draft.place));
        PyTuple_SET_ITEM(choice.get(), 0, Reference::borrowed(name).release());
        PyTuple_SET_ITEM(choice.get(), 1, Reference::checked(to_python(draft.round->probability)).release());
        PyTuple_SET_ITEM(choice.get(), 2, distribution.release());
        PyTuple_SET_ITEM(choice.get(), 3, Reference::checked(to_python(draft.round->ticket)).release());
        router.commit(std::move(draft));
        return choice.release();
    });
}

// distribution(context, awake) -> the probabilities of the next choice, without a budget.
PyObject* distribution(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        Router& router = router_of(object);
        const size_t n = router.learner().count();
        const auto awake = places_of(args[1], n);
        Reference result = new_array({n});
        std::vector<double> mask(n, awake ? 0.0 : 1.0);
        if (awake)
            for (size_t place : *awake) mask[place] = 1.0;
        if (n > 0)
            router.learner().play(From<int64_t>::get(args[0]), awake ? mask.data() : nullptr,
                                  data_of<double>(result.array()));
        return result.release();
    });
}

double scaled(const RoutingObject& self, double gain) {
    if (self.low == -1.0 && self.high == 1.0) return gain;
    return 2.0 * (gain - self.low) / (self.high - self.low) - 1.0;
}
double unscaled(const RoutingObject& self, double gain) {
    if (self.low == -1.0 && self.high == 1.0) return gain;
    return self.low + 0.5 * (gain + 1.0) * (self.high - self.low);
}

// reward(ticket, gain) -> whether it was learned: whether the round waits for one gain, and this one is in range.
PyObject* reward(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        if (!PyLong_CheckExact(args[0]) || !PyFloat_CheckExact(args[1])) Py_RETURN_FALSE;
        RoutingObject& self = self_of(object);
        int overflow;
        const int64_t ticket = PyLong_AsLongLongAndOverflow(args[0], &overflow);
        const double gain = PyFloat_AS_DOUBLE(args[1]);
        const Round* round = self.router->pending(ticket);
        if (overflow || !round || round->known.size() != 1 || !(gain >= self.low && gain <= self.high))
            Py_RETURN_FALSE;
        Round settled = *round;
        settled.known.front().gain = scaled(self, gain);
        self.router->settle(std::move(settled));
        Py_RETURN_TRUE;
    });
}

// A round with gains: settle(ticket, numbers, gains, full, cost), correct(ticket, numbers, gains, full).
Round with_gains(const RoutingObject& self, const Round& round, PyObject* const* args) {
    const auto numbers = list_of<int64_t>(args[1], From<int64_t>::get);
    const auto gains = list_of<double>(args[2], From<double>::get);
    if (numbers.size() != gains.size()) raise(PyExc_ValueError, "there must be a gain for each number");
    Round result = round;
    result.full = From<bool>::get(args[3]);
    for (Known& known : result.known) known.gain = not_a_number;
    for (size_t k = 0; k < numbers.size(); ++k) {
        auto found = std::find_if(result.known.begin(), result.known.end(),
                                  [&](const Known& known) { return known.action == numbers[k]; });
        if (found == result.known.end()) found = result.known.insert(found, Known{numbers[k], 1.0, 0.0});
        found->gain = scaled(self, gains[k]);
    }
    return result;
}

PyObject* settle(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 5);
        const Round* round = router_of(object).pending(From<int64_t>::get(args[0]));
        if (!round) raise(PyExc_LookupError, "no round with this ticket waits");
        Round settled = with_gains(self_of(object), *round, args);
        settled.cost = From<double>::get(args[4]);
        router_of(object).settle(std::move(settled));
        Py_RETURN_NONE;
    });
}

PyObject* correct(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        const Round* round = router_of(object).settled(From<int64_t>::get(args[0]));
        if (!round) raise(PyExc_LookupError, "no round with this ticket can be corrected");
        router_of(object).correct(with_gains(self_of(object), *round, args));
        Py_RETURN_NONE;
    });
}

Reference list_of_numbers(const std::vector<int64_t>& numbers) {
    Reference list = Reference::checked(PyList_New(static_cast<Py_ssize_t>(numbers.size())));
    for (size_t k = 0; k < numbers.size(); ++k)
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k), Reference::checked(to_python(numbers[k])).release());
    return list;
}

Reference list_of_doubles(const std::vector<double>& values) {
    Reference list = Reference::checked(PyList_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t k = 0; k < values.size(); ++k)
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k), Reference::checked(to_python(values[k])).release());
    return list;
}

// (ticket, action, probability, context, full, awake or None, known actions, their gains), actions by their numbers.
Reference words_of(const RoutingObject& self, const Round& round) {
    std::vector<int64_t> known;
    std::vector<double> gains;
    for (const Known& one : round.known) {
        known.push_back(one.action);
        gains.push_back(unscaled(self, one.gain));
    }
    Reference awake = round.all_awake ? Reference::borrowed(Py_None) : list_of_numbers(round.awake);
    return Reference::checked(Py_BuildValue(
        "LLdLNNNN", static_cast<long long>(round.ticket), static_cast<long long>(round.action), round.probability,
        static_cast<long long>(round.cell), to_python(round.full), awake.release(), list_of_numbers(known).release(),
        list_of_doubles(gains).release()));
}

// round(ticket) -> a round that waits, or None; settled(ticket) -> a round that can be corrected, or None.
template <const Round* (Router::*find)(int64_t) const>
PyObject* find_round(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 1);
        const Round* round = (router_of(object).*find)(From<int64_t>::get(args[0]));
        if (!round) Py_RETURN_NONE;
        return words_of(self_of(object), *round).release();
    });
}

PyObject* history(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        Reference list = Reference::checked(PyList_New(0));
        router_of(object).each_settled([&](const Round& round) {
            if (PyList_Append(list.get(), words_of(self_of(object), round).get()) < 0) throw PythonError();
        });
        return list.release();
    });
}

PyObject* pending(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        std::vector<int64_t> tickets;
        for (const auto& [ticket, round] : router_of(object).waiting()) tickets.push_back(ticket);
        return list_of_numbers(tickets).release();
    });
}

Reference copy_of_dict(PyObject* dict) { return Reference::checked(PyDict_Copy(dict)); }

// join(name, cost, others, by): an action, with the numbers of those that are seen with it, and that it is seen with.
PyObject* join(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        RoutingObject& self = self_of(object);
        const double cost = From<double>::get(args[1]);
        auto others = list_of<int64_t>(args[2], From<int64_t>::get);
        const auto by = list_of<int64_t>(args[3], From<int64_t>::get);
        const auto number = static_cast<int64_t>(self.router->shown.size());
        for (const std::vector<int64_t>* numbers : {&std::as_const(others), &by})
            for (int64_t other : *numbers)
                if (other < 0 || other >= number) raise(PyExc_ValueError, "there is no action with this number");
        Reference numbers = copy_of_dict(self.numbers);
        Reference its = Reference::checked(to_python(number));
        if (PyDict_SetItem(numbers.get(), args[0], its.get()) < 0) throw PythonError();
        Reference one = Reference::checked(PyTuple_Pack(1, args[0]));
        Reference names = Reference::checked(PySequence_Concat(self.names, one.get()));
        Reference every = Reference::checked(PySequence_Concat(self.every, one.get()));
        self.router->join(number, cost, std::move(others), by);
        const Reference old_numbers(std::exchange(self.numbers, numbers.release()));
        const Reference old_names(std::exchange(self.names, names.release()));
        const Reference old_every(std::exchange(self.every, every.release()));
        Py_RETURN_NONE;
    });
}

PyObject* leave(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 1);
        RoutingObject& self = self_of(object);
        const size_t place = whole(args[0]);
        const size_t n = self.router->learner().count();
        if (place >= n || n == 1) raise(PyExc_ValueError, "an action must stay");
        Reference names = Reference::checked(PyTuple_New(static_cast<Py_ssize_t>(n - 1)));
        for (size_t i = 0, k = 0; i < n; ++i)
            if (i != place)
                PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(k++),
                                 Reference::borrowed(PyTuple_GET_ITEM(self.names, static_cast<Py_ssize_t>(i))).release());
        self.router->leave(self.router->learner().ids[place]);
        const Reference old_names(std::exchange(self.names, names.release()));
        Py_RETURN_NONE;
    });
}

// open(context): give a context a rule of its own.
PyObject* open_context(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 1);
        RoutingObject& self = self_of(object);
        Reference contexts = copy_of_dict(self.contexts);
        const auto number = static_cast<int64_t>(self.router->learner().cells()) + 1;
        Reference its = Reference::checked(to_python(number));
        if (PyDict_SetItem(contexts.get(), args[0], its.get()) < 0) throw PythonError();
        self.router->open(number);
        const Reference old(std::exchange(self.contexts, contexts.release()));
        return its.release();
    });
}

// dump() -> all numbers as an array.
PyObject* dump(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        Archive archive;
        router_of(object).visit(archive);
        return new_array({archive.written().size()}, archive.written().data()).release();
    });
}

// restore(numbers, every action that ever joined, contexts): continue where another router was, before anything else.
PyObject* restore(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        RoutingObject& self = self_of(object);
        const auto row = From<Vector<const double>>::get(args[0]);
        if (!PyTuple_CheckExact(args[1]) || !PyDict_CheckExact(args[2]) || PyTuple_GET_SIZE(self.every) > 0)
            raise(PyExc_TypeError, "these are not the parts of a router");
        Reference numbers = Reference::checked(PyDict_New());
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[1]); ++k) {
            Reference number = Reference::checked(PyLong_FromSsize_t(k));
            if (PyDict_SetItem(numbers.get(), PyTuple_GET_ITEM(args[1], k), number.get()) < 0) throw PythonError();
        }
        Reference contexts = copy_of_dict(args[2]);
        Archive archive(std::vector<double>(row.data, row.data + row.n));
        self.router->visit(archive);
        const std::vector<int64_t>& ids = self.router->learner().ids;
        const auto every = static_cast<int64_t>(PyTuple_GET_SIZE(args[1]));
        if (!archive.finished() || self.router->shown.size() != static_cast<size_t>(every) ||
            self.router->budget.costs.size() != static_cast<size_t>(every) || (!ids.empty() && ids.back() >= every) ||
            self.router->learner().cells() != static_cast<size_t>(PyDict_GET_SIZE(contexts.get())))
            Archive::refuse();
        Reference names = Reference::checked(PyTuple_New(static_cast<Py_ssize_t>(ids.size())));
        for (size_t i = 0; i < ids.size(); ++i)
            PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(i),
                             Reference::borrowed(PyTuple_GET_ITEM(args[1], static_cast<Py_ssize_t>(ids[i]))).release());
        const Reference old_names(std::exchange(self.names, names.release()));
        const Reference old_every(std::exchange(self.every, Reference::borrowed(args[1]).release()));
        const Reference old_numbers(std::exchange(self.numbers, numbers.release()));
        const Reference old_contexts(std::exchange(self.contexts, contexts.release()));
        Py_RETURN_NONE;
    });
}

// weights(context) -> the weights of the rules, empty with a single rule; prices(context); share(context).
template <std::vector<double> (Rule::*read)() const>
PyObject* of_rules(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 1);
        const size_t context = whole(args[0]);
        if (context > router_of(object).learner().cells()) raise(PyExc_LookupError, "there is no such context");
        return list_of_doubles((router_of(object).learner().rule(context).*read)()).release();
    });
}

PyObject* share_of_context(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 1);
        const size_t context = whole(args[0]);
        if (context == 0 || context > router_of(object).learner().cells())
            raise(PyExc_LookupError, "there is no such context");
        return to_python(router_of(object).learner().share(context));
    });
}

PyMethodDef methods[] = {
    fast("choose", choose, "Choose an action."),
    fast("distribution", distribution, "Return the probabilities of the next choice."),
    fast("reward", reward, "Learn the gain of a choice; return whether it was one that can be learned."),
    fast("settle", settle, "Learn the gains of a round."),
    fast("correct", correct, "Learn other gains of a round instead."),
    fast("round", find_round<&Router::pending>, "Return a round that waits, or None."),
    fast("settled", find_round<&Router::settled>, "Return a round that can be corrected, or None."),
    {"history", history, METH_NOARGS, "Return the settled rounds that are kept."},
    {"pending", pending, METH_NOARGS, "Return the tickets of the rounds that wait."},
    fast("join", join, "Let an action join."),
    fast("leave", leave, "Let an action leave."),
    fast("open", open_context, "Begin a rule for a context."),
    {"dump", dump, METH_NOARGS, "Return all numbers."},
    fast("restore", restore, "Continue from numbers."),
    fast("weights", of_rules<&Rule::weights>, "Return the weights of the rules."),
    fast("prices", of_rules<&Rule::prices>, "Return the price to each of the rules."),
    fast("share", share_of_context, "Return the share of the rule of a context."),
    {nullptr, nullptr, 0, nullptr},
};

template <PyObject* RoutingObject::*part>
PyObject* read_part(PyObject* object, void*) {
    return Reference::borrowed(self_of(object).*part).release();
}

template <bool Router::*fact>
PyObject* read_fact(PyObject* object, void*) {
    return PyBool_FromLong(router_of(object).*fact);
}

template <int64_t Router::*count>
PyObject* read_count(PyObject* object, void*) {
    return PyLong_FromLongLong(router_of(object).*count);
}

// The mean gain of the chosen actions.
PyObject* mean(PyObject* object, void*) {
    const Router& router = router_of(object);
    if (router.rounds == 0) return PyFloat_FromDouble(not_a_number);
    return PyFloat_FromDouble(unscaled(self_of(object), router.earned / static_cast<double>(router.rounds)));
}

PyObject* bytes_of(PyObject* object, void*) { return PyFloat_FromDouble(router_of(object).bytes()); }

// (rounds, spent, price of a unit of cost, the largest allowed excess) of the budget.
PyObject* spending(PyObject* object, void*) {
    const Budget& budget = router_of(object).budget;
    const RoutingObject& self = self_of(object);
    const double excess = budget.most * (std::sqrt(budget.time) + 1.0);
    return Py_BuildValue("dddd", budget.time, budget.spent, budget.unit_price() * (self.high - self.low), excess);
}

PyObject* costs(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        std::vector<double> each;
        const Router& router = router_of(object);
        for (int64_t action : router.learner().ids) each.push_back(router.budget.costs[static_cast<size_t>(action)]);
        return list_of_doubles(each).release();
    });
}

PyGetSetDef attributes[] = {
    {"names", read_part<&RoutingObject::names>, nullptr, "The actions.", nullptr},
    {"every", read_part<&RoutingObject::every>, nullptr, "All actions that ever joined.", nullptr},
    {"numbers", read_part<&RoutingObject::numbers>, nullptr, "The number of each action.", nullptr},
    {"contexts", read_part<&RoutingObject::contexts>, nullptr, "The number of each context.", nullptr},
    {"next", read_count<&Router::next>, nullptr, "The next ticket.", nullptr},
    {"rounds", read_count<&Router::rounds>, nullptr, "How many rounds were settled.", nullptr},
    {"expired", read_count<&Router::expired>, nullptr, "How many rounds expired.", nullptr},
    {"full", read_fact<&Router::full>, nullptr, "Whether all gains were known.", nullptr},
    {"late", read_fact<&Router::late>, nullptr, "Whether some gains came late.", nullptr},
    {"changed", read_fact<&Router::changed>, nullptr, "Whether actions slept, joined or left.", nullptr},
    {"mean", mean, nullptr, "The mean gain.", nullptr},
    {"bytes", bytes_of, nullptr, "The bytes that it takes, about.", nullptr},
    {"spending", spending, nullptr, "What was spent.", nullptr},
    {"costs", costs, nullptr, "The cost of each action.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"normalhedge._core.Routing", sizeof(RoutingObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

void add_routing(PyObject* module) {
    Reference type = Reference::checked(PyType_FromSpec(&spec));
    if (PyModule_AddObjectRef(module, "Routing", type.get()) < 0) throw PythonError();
}

}  // namespace normalhedge::python
