// The type-erased interface of an algorithm: one virtual call a round.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rounds.hpp"

namespace normalhedge::engine {

class Hedger {
public:
    virtual ~Hedger() = default;

    virtual size_t rows() const = 0;
    virtual size_t totals() const = 0;

    // Play a round; `after` may be `before`. `blend_gain` is the gain of the hedger, if the round was played with
    // earlier weights: see `allows_for_delay`.
    virtual Outcome step(const Columns& before, const Columns& after, const Gains& gains,
                         const double* confidence, const double* blend_gain = nullptr) const = 0;

    // Play rounds of a table of gains, in place; return how many were good. After a bad one the game is spoilt.
    virtual size_t run(const Columns& now, const Gains& gains, const double* confidence, size_t rounds,
                       const Records& records) const {
        for (size_t t = 0; t < rounds; ++t) {
            const double* rated = confidence ? confidence + t * now.n : nullptr;
            if (records.played) recall(now, rated, records.played + t * now.n);
            const Outcome outcome = step(now, now, gains.row(t, now.n), rated);
            if (outcome.bad) return t;
            records.gains[t] = outcome.gain;
            records.leads[t] = outcome.lead;
            records.log_potentials[t] = outcome.log_potential;
        }
        return rounds;
    }

    // Write the distribution with these confidences; zeros where all experts sleep.
    virtual void play(const Columns& now, const double* confidence, double* played) const = 0;

    // Write the distribution of the round that is learned next: the same, unless outcomes are late. Without
    // confidences all are awake.
    virtual void recall(const Columns& now, const double* confidence, double* played) const {
        if (confidence)
            play(now, confidence, played);
        else
            std::copy(now.weights, now.weights + now.n, played);
    }

    // Write the weights that belong to the ledger; return ln mean Phi.
    virtual double weigh(const Columns& now) const = 0;

    // Whether gains must measure losses from zero, and not from the least of them.
    virtual bool by_losses() const { return false; }

    // 1 - alpha.
    virtual double keep() const { return 1.0; }

    // Whether weights do not depend on the unit of the gains.
    virtual bool scale_invariant() const { return false; }

    // Whether it gets the tangents of all experts as they are, never clipped: see `gains.hpp`.
    virtual bool plain_tangents() const { return false; }

    // Whether regrets may be relative to the gain of earlier weights, if outcomes are late; and the same hedger with
    // a potential that is wider by a factor.
    virtual bool allows_for_delay() const { return false; }
    virtual std::unique_ptr<Hedger> widened(double) const { return nullptr; }

    // Let all gains so far count half, so many times.
    virtual void rescale(const Columns& now, int times) const = 0;
};

template <class Algorithm>
class HedgerOf final : public Hedger {
public:
    HedgerOf(const std::vector<double>& settings, std::vector<double> halving)
        : algorithm_(settings.data()), halving_(std::move(halving)) {}

    size_t rows() const override { return algorithm_.all_rows(); }
    size_t totals() const override { return algorithm_.all_totals(); }

    Outcome step(const Columns& before, const Columns& after, const Gains& gains,
                 const double* confidence, const double* blend_gain) const override {
        return play_round(algorithm_, before, after, gains, confidence, blend_gain);
    }

    size_t run(const Columns& now, const Gains& gains, const double* confidence, size_t rounds,
               const Records& records) const override {
        if constexpr (plays_rounds<Algorithm>())
            if (!confidence && now.n <= block) return play_rounds(algorithm_, now, gains, rounds, records);
        return Hedger::run(now, gains, confidence, rounds, records);
    }

    void play(const Columns& now, const double* confidence, double* played) const override {
        share(algorithm_, now, confidence, played);
    }

    void recall(const Columns& now, const double* confidence, double* played) const override {
        Scratch room(room_to_recall(algorithm_, now.n));
        Hedger::recall(as_played(algorithm_, now, room.data()), confidence, played);
    }

    double weigh(const Columns& now) const override {
        return engine::weigh(algorithm_, now, leading(now.regrets(), now.n));
    }

    bool by_losses() const override { return Algorithm::by_losses; }

    double keep() const override { return algorithm_.keep; }
    bool scale_invariant() const override { return Algorithm::scale_invariant; }
    bool plain_tangents() const override { return Algorithm::plain_tangents; }
    bool allows_for_delay() const override { return Algorithm::allows_for_delay; }

    std::unique_ptr<Hedger> widened(double factor) const override {
        auto wider = std::make_unique<HedgerOf>(*this);
        if constexpr (Algorithm::allows_for_delay) wider->algorithm_.rate /= factor;
        return wider;
    }

    void rescale(const Columns& now, int times) const override {
        rescale_gains(algorithm_, now, halving_.data(), times);
    }

private:
    Algorithm algorithm_;
    std::vector<double> halving_;  // factors of each row, each total and the log weights
};

// The hedger of this name, or none; `settings` are 1 - alpha and the parameters of the algorithm. Throws
// std::invalid_argument where the number of settings or factors is wrong.
std::unique_ptr<Hedger> make_hedger(const std::string& name, const std::vector<double>& settings,
                                    const std::vector<double>& halving);

}  // namespace normalhedge::engine
