// A hedger behind one virtual call a round: what everything but the engine knows of an algorithm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"

namespace normalhedge::engine {

class Hedger {
public:
    virtual ~Hedger() = default;

    virtual size_t rows() const = 0;
    virtual size_t totals() const = 0;

    // Play a round; `after` may be `before`. What the hedger gained may be told, if the round was played
    // with other weights than those of `before`: see `allows_for_delay`.
    virtual Outcome step(const Columns& before, const Columns& after, const Gains& gains,
                         const double* confidence, const double* told = nullptr) const = 0;

    // Write what is played with these confidences; zeros where everybody sleeps.
    virtual void play(const Columns& now, const double* confidence, double* played) const = 0;

    // Write what the round that is to be learned next was played with: the same, unless outcomes are
    // late. Without confidences all are awake.
    virtual void recall(const Columns& now, const double* confidence, double* played) const {
        if (confidence)
            play(now, confidence, played);
        else
            std::copy(now.weights, now.weights + now.n, played);
    }

    // Write the weights that belong to the ledger; return ln mean Phi.
    virtual double weigh(const Columns& now) const = 0;

    // Whether gains must say how large losses are, and not only how much larger than the least.
    virtual bool by_losses() const { return false; }

    // 1 - alpha.
    virtual double keep() const { return 1.0; }

    // Whether weights do not depend on the unit of the gains.
    virtual bool scale_invariant() const { return false; }

    // Whether it gets the tangents of all experts as they are, never clipped: see `gains.hpp`.
    virtual bool plain_tangents() const { return false; }

    // Whether regrets may move by the gain of what was played, if outcomes are late; and the same hedger
    // with a potential that is wider by a factor.
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
                 const double* confidence, const double* told) const override {
        return play_round(algorithm_, before, after, gains, confidence, told);
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
    std::vector<double> halving_;  // by what each row, each total and log weights shrink
};

// The hedger of this name, or none; `settings` are 1 - alpha and what is its own. Throws
// std::invalid_argument where there are not as many settings or factors as it needs.
std::unique_ptr<Hedger> make_hedger(const std::string& name, const std::vector<double>& settings,
                                    const std::vector<double>& halving);

}  // namespace normalhedge::engine
