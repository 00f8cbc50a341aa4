// The interface of a rule: a distribution over actions that learns from the gains that it sees.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "feedback.hpp"

namespace normalhedge::routing {

// What reads or writes all numbers of a rule, in order.
class Visitor {
public:
    virtual ~Visitor() = default;
    virtual void number(double& value) = 0;
    virtual void row(std::vector<double>& values) = 0;  // of a length that does not change
};

class Rule {
public:
    virtual ~Rule() = default;
    virtual std::unique_ptr<Rule> clone() const = 0;

    // Write the distribution over the actions awake; all are awake without a mask. At least one is.
    virtual void play(const double* awake, double* distribution) = 0;

    virtual void learn(const Feedback& feedback) = 0;

    // An action joins at the end, or leaves. Only `join` asks for memory.
    virtual void join() = 0;
    virtual void leave(size_t place) = 0;

    virtual void visit(Visitor& visitor) = 0;

    // The weights of the rules that it hedges over, if it does, and the price to each.
    virtual std::vector<double> weights() const { return {}; }
    virtual std::vector<double> prices() const { return {}; }
};

// Make room for one more entry, so that `push_back` cannot fail.
template <class T>
void make_room(std::vector<T>& values) {
    if (values.size() == values.capacity()) values.reserve(2 * values.size() + 1);
}

}  // namespace normalhedge::routing
