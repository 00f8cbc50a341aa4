// Expectation and maximisation of several models at once, each in a lane of the vector registers.
//
// The recursions of one model wait for their own results: forward and backward, a round takes as long for eight
// models as for one. The models have one column of real numbers, normal or Student's t, and the same
// number of states; they may begin at different rounds of the series, and see it in units of their
// own. The equations are in em.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "em.hpp"

namespace normalhedge::latent {

// A model that is fitted, and how far it has come. It owns nothing.
struct Laned {
    bool student;         // Student's t, or else normal
    size_t first;         // the first round that it is fitted to
    double centre, width; // its units: it sees (y - centre) / width
    Chain chain;
    double* parameters;   // rows x states, see Gaussian and Student
    size_t iterations;    // the largest number
    double* trace;        // the objective before each iteration, and at the end
    size_t done;          // the number of iterations so far
    double log_likelihood;
    bool thorough;
    bool ended;
};

// Room for numbers that are written before they are read.
class Room {
public:
    void grow(size_t size) {
        if (size <= size_) return;
        numbers_.reset(new double[size]);
        size_ = size;
    }
    double* data() { return numbers_.get(); }
    const double* data() const { return numbers_.get(); }
    double& operator[](size_t i) { return numbers_[i]; }
    double operator[](size_t i) const { return numbers_[i]; }

private:
    std::unique_ptr<double[]> numbers_;
    size_t size_ = 0;
};

// The numbers of some models side by side: a number of a state at [s * lanes + lane].
struct Lanes {
    size_t states, lanes, rounds;
    const double* y;          // the series
    std::vector<size_t> first;
    std::vector<double> centre, over_width, student;  // `student`: 1 or 0
    std::vector<double> location, inverse, degrees, over_degrees, log_norm;
    std::vector<double> initial, transition, moves, kept;
    Room table, predicted, highest, likelihoods;
    std::vector<double> total;
    std::vector<double> sums;  // 4 x states x lanes: of w, w u, w u y, w u y^2

    void resize(size_t k, size_t width, size_t T) {
        states = k, lanes = width, rounds = T;
        first.assign(width, 0);
        total.assign(width, 0.0);
        for (auto* part : {&centre, &over_width, &student, &location, &inverse, &degrees, &over_degrees, &log_norm, &initial})
            part->assign(k * width, 0.0);
        for (auto* part : {&transition, &moves, &kept}) part->assign(k * k * width, 0.0);
        sums.assign(4 * k * width, 0.0);
        for (auto* part : {&table, &predicted}) part->grow(T * k * width);
        for (auto* part : {&highest, &likelihoods}) part->grow(T * width);
    }
};

// The kernels, for K states and L lanes; K = 0: as many as there are.
template <size_t K, size_t L>
struct LaneKernels {
    static constexpr size_t most = K ? K : 1;

    // Whether a model in the lanes is Student's.
    static bool some(const Lanes& now) {
        for (size_t l = 0; l < L; ++l)
            if (now.student[l] > 0.0) return true;
        return false;
    }

    // Scaled densities and their scales of some rounds; the exponentials of all models and states in one loop.
    [[gnu::always_inline]] static inline void densities(Lanes& now, size_t from, size_t to) {
        const size_t k = K ? K : now.states;
        const double *centre = now.centre.data(), *over = now.over_width.data();
        const double *location = now.location.data(), *inverse = now.inverse.data();
        const double *degrees = now.degrees.data(), *norm = now.log_norm.data();
        const double *over_degrees = now.over_degrees.data(), *student = now.student.data();
        const bool any = some(now);
        for (size_t t = from; t < to; ++t) {
            double* row = now.table.data() + t * k * L;
            double* high = now.highest.data() + t * L;
            const double y = now.y[t];
            if (y != y) {
                for (size_t i = 0; i < k * L; ++i) row[i] = 0.0;
                for (size_t l = 0; l < L; ++l) high[l] = 0.0;
                continue;
            }
            for (size_t l = 0; l < L; ++l) high[l] = -1e300;
            if (any) {
                // The lanes of all states in one loop: logarithms need wide registers.
#pragma omp simd
                for (size_t i = 0; i < k * L; ++i) {
                    const double away = (y - centre[i]) * over[i] - location[i];
                    const double normal = norm[i] - 0.5 * (away * away * inverse[i]);
                    const double square = 2.0 * (norm[i] - normal);
                    const double heavy =
                        norm[i] - 0.5 * (degrees[i] + 1.0) * log(1.0 + square * over_degrees[i]);
                    row[i] = student[i] > 0.0 ? heavy : normal;
                }
            }
            for (size_t s = 0; s < k; ++s) {
#pragma omp simd
                for (size_t l = 0; l < L; ++l) {
                    const size_t i = s * L + l;
                    if (!any) {
                        const double away = (y - centre[i]) * over[i] - location[i];
                        row[i] = norm[i] - 0.5 * (away * away * inverse[i]);
                    }
                    high[l] = larger(high[l], row[i]);
                }
            }
            for (size_t s = 0; s < k; ++s) {
#pragma omp simd
                for (size_t l = 0; l < L; ++l) {
                    const size_t i = s * L + l;
                    row[i] = (row[i] - high[l]) * log2_e;
                }
            }
        }
        double* const logs = now.table.data() + from * k * L;
        const size_t n = (to - from) * k * L;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) logs[i] = exp2(smaller(logs[i], 0.0));
    }

    // Forward through some rounds; `predicted` of the first is given, and the next one's is written.
    [[gnu::always_inline]] static inline void forward(Lanes& now, size_t from, size_t to) {
        const size_t k = K ? K : now.states;
        const double* moves = now.transition.data();
        for (size_t t = from; t < to; ++t) {
            double* row = now.table.data() + t * k * L;
            const double* p = now.predicted.data() + t * k * L;
            double* likely = now.likelihoods.data() + t * L;
            double* next = t + 1 < now.rounds ? now.predicted.data() + (t + 1) * k * L : nullptr;
            if constexpr (K != 0) {
#pragma omp simd
                for (size_t l = 0; l < L; ++l) {
                    double f[most], z = 0.0, all = 0.0;
                    for (size_t s = 0; s < most; ++s) {
                        f[s] = row[s * L + l] * p[s * L + l];
                        z += f[s];
                        all += p[s * L + l];
                    }
                    const bool possible = z > least_likelihood;
                    const double over = 1.0 / (possible ? z : all);
                    likely[l] = larger(z, least_likelihood);
                    for (size_t s = 0; s < most; ++s) {
                        f[s] = (possible ? f[s] : p[s * L + l]) * over;
                        row[s * L + l] = f[s];
                    }
                    if (next)
                        for (size_t s = 0; s < most; ++s) {
                            double sum = 0.0;
                            for (size_t r = 0; r < most; ++r)
                                sum += f[r] * moves[(r * most + s) * L + l];
                            next[s * L + l] = sum;
                        }
                }
            } else {
                for (size_t l = 0; l < L; ++l) {
                    double z = 0.0, all = 0.0;
                    for (size_t s = 0; s < k; ++s) {
                        z += row[s * L + l] * p[s * L + l];
                        all += p[s * L + l];
                    }
                    const bool possible = z > least_likelihood;
                    const double over = 1.0 / (possible ? z : all);
                    likely[l] = larger(z, least_likelihood);
                    for (size_t s = 0; s < k; ++s)
                        row[s * L + l] = (possible ? row[s * L + l] : 1.0) * p[s * L + l] * over;
                }
                if (!next) continue;
                for (size_t i = 0; i < k * L; ++i) next[i] = 0.0;
                for (size_t r = 0; r < k; ++r)
                    for (size_t s = 0; s < k; ++s)
#pragma omp simd
                        for (size_t l = 0; l < L; ++l)
                            next[s * L + l] += row[r * L + l] * moves[(r * k + s) * L + l];
            }
        }
    }

    // Backward through rounds `to` - 1 to `from`; the smoothed probabilities of round `to` are there.
    [[gnu::always_inline]] static inline void backward(Lanes& now, size_t from, size_t to) {
        const size_t k = K ? K : now.states;
        const double* transition = now.transition.data();
        double* moves = now.moves.data();
        for (size_t t = to; t-- > from;) {
            const double* later = now.table.data() + (t + 1) * k * L;
            const double* p = now.predicted.data() + (t + 1) * k * L;
            double* f = now.table.data() + t * k * L;
            if constexpr (K != 0) {
#pragma omp simd
                for (size_t l = 0; l < L; ++l) {
                    double ratio[most];
                    for (size_t s = 0; s < most; ++s)
                        ratio[s] = later[s * L + l] * p[s * L + l];
                    for (size_t r = 0; r < most; ++r) {
                        double sum = 0.0;
                        const double share = f[r * L + l];
                        for (size_t s = 0; s < most; ++s) {
                            const size_t i = (r * most + s) * L + l;
                            sum += transition[i] * ratio[s];
                            moves[i] += share * ratio[s];
                        }
                        f[r * L + l] = share * sum;
                    }
                }
            } else {
                for (size_t r = 0; r < k; ++r) {
                    double sum[L] = {};
                    for (size_t s = 0; s < k; ++s)
#pragma omp simd
                        for (size_t l = 0; l < L; ++l) {
                            const size_t i = (r * k + s) * L + l;
                            const double ratio = later[s * L + l] * p[s * L + l];
                            sum[l] += transition[i] * ratio;
                            moves[i] += f[r * L + l] * ratio;
                        }
                    for (size_t l = 0; l < L; ++l) f[r * L + l] *= sum[l];
                }
            }
        }
    }

    // Add the statistics of some rounds.
    [[gnu::always_inline]] static inline void add(Lanes& now, size_t from, size_t to) {
        const size_t k = K ? K : now.states;
        const double *centre = now.centre.data(), *over = now.over_width.data();
        const double *location = now.location.data(), *inverse = now.inverse.data();
        const double *degrees = now.degrees.data(), *student = now.student.data();
        const size_t n = k * L;
        const bool any = some(now);
        double *zero = now.sums.data(), *one = zero + n, *two = one + n, *three = two + n;
        for (size_t t = from; t < to; ++t) {
            const double* row = now.table.data() + t * n;
            const double y = now.y[t];
            if (y != y) continue;
            if (!any) {
                for (size_t s = 0; s < k; ++s) {
#pragma omp simd
                    for (size_t l = 0; l < L; ++l) {
                        const size_t i = s * L + l;
                        const double x = (y - centre[i]) * over[i];
                        zero[i] += row[i];
                        two[i] += row[i] * x;
                        three[i] += row[i] * x * x;
                    }
                }
                continue;
            }
#pragma omp simd
            for (size_t i = 0; i < n; ++i) {
                const double x = (y - centre[i]) * over[i];
                const double away = x - location[i];
                const double heavy = (degrees[i] + 1.0) / (degrees[i] + away * away * inverse[i]);
                const double u = row[i] * (student[i] > 0.0 ? heavy : 1.0);
                zero[i] += row[i];
                one[i] += u;
                two[i] += u * x;
                three[i] += u * x * x;
            }
        }
    }
};

// Loops over whole tables, whatever the numbers of states.
inline void invert_predicted(double* predicted, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double over = 1.0 / larger(predicted[i], least_predicted);
        predicted[i] = predicted[i] > least_predicted ? over : 0.0;
    }
}

template <size_t L>
[[gnu::always_inline]] inline void add_likelihoods(Lanes& now, size_t from, size_t to,
                                                   const double* counts) {
    double *z = now.likelihoods.data() + from * L, *total = now.total.data();
    const double* high = now.highest.data() + from * L;
    const size_t n = (to - from) * L;
#pragma omp simd
    for (size_t i = 0; i < n; ++i) z[i] = log(z[i]) + (high[i] > -1e300 ? high[i] : 0.0);
    for (size_t i = 0; i < n; i += L) {
#pragma omp simd
        for (size_t l = 0; l < L; ++l) total[l] += counts[l] * z[i + l];
    }
}

enum class LaneWork { expect, add };

template <size_t K, size_t L>
[[gnu::always_inline]] inline void work_lanes(Lanes& now, LaneWork work) {
    using Kernels = LaneKernels<K, L>;
    const size_t T = now.rounds, k = now.states;
    // The rounds in which a lane begins, in order.
    size_t begins[L + 1], parts = 0;
    for (size_t l = 0; l < L; ++l) begins[l] = now.first[l];
    std::sort(begins, begins + L);
    for (size_t l = 0; l < L; ++l)
        if (!parts || begins[l] != begins[parts - 1]) begins[parts++] = begins[l];
    begins[parts] = T;
    const size_t start = begins[0];
    if (work == LaneWork::add) {
        // Before it begins, a lane has no share in any state.
        for (size_t l = 0; l < L; ++l)
            for (size_t t = start; t < now.first[l]; ++t)
                for (size_t s = 0; s < k; ++s) now.table[(t * k + s) * L + l] = 0.0;
        std::fill(now.sums.begin(), now.sums.end(), 0.0);
        Kernels::add(now, start, T);
        return;
    }
    std::copy(now.initial.begin(), now.initial.end(), now.predicted.data() + start * k * L);
    std::fill(now.total.begin(), now.total.end(), 0.0);
    for (size_t part = 0; part < parts; ++part) {
        double counts[L];
        for (size_t l = 0; l < L; ++l) {
            counts[l] = now.first[l] <= begins[part] ? 1.0 : 0.0;
            if (now.first[l] != begins[part]) continue;
            for (size_t s = 0; s < k; ++s)
                now.predicted[(begins[part] * k + s) * L + l] = now.initial[s * L + l];
        }
        constexpr size_t some = 64;  // rounds whose numbers stay in the nearest cache
        for (size_t from = begins[part]; from < begins[part + 1]; from += some) {
            const size_t to = std::min(from + some, begins[part + 1]);
            Kernels::densities(now, from, to);
            Kernels::forward(now, from, to);
            add_likelihoods<L>(now, from, to, counts);
        }
    }
    invert_predicted(now.predicted.data() + start * k * L, (T - start) * k * L);
    std::fill(now.moves.begin(), now.moves.end(), 0.0);
    for (size_t part = parts; part-- > 0;) {
        // From the last round of the part before, its transition into this part included.
        const size_t from = begins[part], to = part + 1 < parts ? begins[part + 1] : T - 1;
        if (to > from) Kernels::backward(now, from, to);
        for (size_t l = 0; l < L; ++l)
            if (now.first[l] == begins[part])
                for (size_t i = 0; i < k * k; ++i) now.kept[i * L + l] = now.moves[i * L + l];
    }
    for (size_t i = 0; i < k * k * L; ++i) now.moves[i] = now.kept[i] * now.transition[i];
}

template <size_t L>
[[gnu::always_inline]] inline void work_states(Lanes& now, LaneWork work) {
    switch (now.states) {
        case 1: return work_lanes<1, L>(now, work);
        case 2: return work_lanes<2, L>(now, work);
        case 3: return work_lanes<3, L>(now, work);
        case 4: return work_lanes<4, L>(now, work);
        case 5: return work_lanes<5, L>(now, work);
        default: return work_lanes<0, L>(now, work);
    }
}

NORMALHEDGE_VECTORISED inline void work_two(Lanes& now, LaneWork work) { work_states<2>(now, work); }
NORMALHEDGE_VECTORISED inline void work_four(Lanes& now, LaneWork work) { work_states<4>(now, work); }
NORMALHEDGE_VECTORISED inline void work_eight(Lanes& now, LaneWork work) { work_states<8>(now, work); }

inline void work_on(Lanes& now, LaneWork work) {
    if (now.lanes == 2) return work_two(now, work);
    if (now.lanes == 4) return work_four(now, work);
    work_eight(now, work);
}

// Models side by side; with more states the transitions of eight do not stay in the registers.
constexpr size_t most_lanes = 8, most_wide = 4;

inline size_t lanes_for(size_t states) { return states > most_wide ? 4 : most_lanes; }

// Fits of several models to one series.
class LaneFits {
public:
    LaneFits(const double* y, size_t rounds, const Guards& guards, double tolerance)
        : y_(y), rounds_(rounds), guards_(guards), tolerance_(tolerance) {}

    // M steps of up to eight models with the shares of a division, rounds x models: 0.9 for the state of the division.
    void start(Laned* const* models, size_t count, const std::int64_t* const* divisions) {
        gather(models, count);
        const size_t k = now_.states, L = now_.lanes;
        for (size_t l = 0; l < L; ++l) {
            const std::int64_t* labels = divisions[std::min(l, count - 1)];
            for (size_t t = now_.first[l]; t < rounds_; ++t)
                for (size_t s = 0; s < k; ++s)
                    now_.table[(t * k + s) * L + l] =
                        (static_cast<size_t>(labels[t - now_.first[l]]) == s ? 0.9 : 0.0) +
                        0.1 / static_cast<double>(k);
        }
        maximise(true);
    }

    // Iterate until all models have ended, or so many times.
    void run(std::vector<Laned*> models, std::int64_t calls) {
        while (!models.empty() && calls-- > 0) {
            const size_t count = std::min(lanes_for(models[0]->chain.states), models.size());
            gather(models.data(), count);
            iterate();
            size_t left = 0;
            for (Laned* model : models)
                if (!model->ended) models[left++] = model;
            // Models that go on stay in front: the same lanes again.
            models.resize(left);
        }
    }

    // The lanes with the smoothed states of up to eight models.
    const Lanes& smooth(Laned* const* models, size_t count) {
        gather(models, count);
        work_on(now_, LaneWork::expect);
        return now_;
    }

private:
    void gather(Laned* const* models, size_t count) {
        mine_ = models, count_ = count;
        const size_t k = models[0]->chain.states;
        const size_t L = count <= 2 ? 2 : count <= 4 || k > most_wide ? 4 : 8;
        now_.resize(k, L, rounds_);
        now_.y = y_;
        for (size_t l = 0; l < L; ++l) {
            const Laned& model = *models[std::min(l, count - 1)];  // spare lanes repeat the last
            now_.first[l] = model.first;
            for (size_t s = 0; s < k; ++s) {
                now_.centre[s * L + l] = model.centre;
                now_.over_width[s * L + l] = 1.0 / model.width;
                now_.student[s * L + l] = model.student ? 1.0 : 0.0;
            }
            for (size_t s = 0; s < k; ++s) now_.initial[s * L + l] = model.chain.initial[s];
            for (size_t i = 0; i < k * k; ++i)
                now_.transition[i * L + l] = model.chain.transition[i];
            load(model, l);
        }
    }

    void load(const Laned& model, size_t lane) {
        const size_t k = now_.states, L = now_.lanes;
        for (size_t s = 0; s < k; ++s) {
            const double* p = model.parameters + s;
            const size_t i = s * L + lane;
            now_.location[i] = p[0];
            now_.inverse[i] = 1.0 / p[k];
            now_.degrees[i] = model.student ? p[2 * k] : 1.0;
            now_.over_degrees[i] = 1.0 / now_.degrees[i];
            now_.log_norm[i] = (model.student ? Student::log_norm(p[2 * k]) : -0.5 * log_two_pi) -
                               0.5 * std::log(p[k]);
        }
    }

    // One iteration of the models in the lanes.
    void iterate() {
        work_on(now_, LaneWork::expect);
        const size_t k = now_.states, L = now_.lanes;
        bool all_ended = true;
        for (size_t l = 0; l < count_; ++l) {
            Laned& model = *mine_[l];
            double* trace = model.trace;
            const size_t i = model.done;
            trace[i] = now_.total[l] + log_prior(model.chain.initial, k, guards_.pseudo_count) +
                       log_prior(model.chain.transition, k * k, guards_.pseudo_count);
            const bool settled = i && trace[i] - trace[i - 1] < tolerance_;
            if ((settled && model.thorough) || i == model.iterations) {
                model.ended = true;
                model.log_likelihood = now_.total[l];
                continue;
            }
            all_ended = false;
            model.thorough = !model.student || settled || i % thorough_every == 0;
            ++model.done;
            std::vector<double> counts(k);
            for (size_t s = 0; s < k; ++s) counts[s] = now_.table[(model.first * k + s) * L + l];
            normalise(counts.data(), guards_.pseudo_count, k, model.chain.initial);
            for (size_t r = 0; r < k; ++r) {
                for (size_t s = 0; s < k; ++s) counts[s] = now_.moves[(r * k + s) * L + l];
                normalise(counts.data(), guards_.pseudo_count, k, model.chain.transition + r * k);
            }
        }
        if (!all_ended) maximise(false);
    }

    void maximise(bool begin) {
        work_on(now_, LaneWork::add);
        const size_t k = now_.states, L = now_.lanes;
        for (size_t l = 0; l < count_; ++l) {
            Laned& model = *mine_[l];
            if (model.ended) continue;
            for (size_t s = 0; s < k; ++s) {
                double sums[4];
                for (size_t a = 0; a < 4; ++a) sums[a] = now_.sums[(a * k + s) * L + l];
                if (!(sums[0] > least_weight)) continue;
                const Parameters mine{model.parameters, k, s};
                if (!model.student) {
                    const double moments[] = {sums[0], sums[2], sums[3]};
                    Normal family{};
                    family.columns = 1, family.guards = guards_;
                    family.solve(moments, mine);
                    continue;
                }
                Student family{};
                family.columns = 1, family.guards = guards_;
                family.solve(sums, mine);
                if ((begin || model.thorough) && !(guards_.degrees > 0.0)) refine(model, mine, l);
            }
        }
    }

    void refine(const Laned& model, const Parameters& p, size_t lane) {
        const size_t k = now_.states, L = now_.lanes, s = p.state;
        weights_.clear(), squares_.clear();
        double total = 0.0;
        const double over = 1.0 / model.width, inverse = 1.0 / p[1], location = p[0];
        for (size_t t = model.first; t < rounds_; ++t) {
            const double share = now_.table[(t * k + s) * L + lane];
            if (y_[t] != y_[t] || share < 1e-9) continue;
            const double away = (y_[t] - model.centre) * over - location;
            weights_.push_back(share);
            squares_.push_back(away * away * inverse);
            total += share;
        }
        p[2] = Student::best_degrees(weights_.data(), squares_.data(), weights_.size(), total, p[2]);
    }

    const double* y_;
    size_t rounds_;
    Guards guards_;
    double tolerance_;
    Lanes now_;
    Laned* const* mine_ = nullptr;
    size_t count_ = 0;
    std::vector<double> weights_, squares_;
};

}  // namespace normalhedge::latent
