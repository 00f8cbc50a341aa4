// Every algorithm, by the name of its file.
#include "hedger.hpp"

#include <functional>
#include <map>
#include <stdexcept>

#include "hedgers/ada_hedge.hpp"
#include "hedgers/ada_hedge_d.hpp"
#include "hedgers/ada_normal_hedge.hpp"
#include "hedgers/bates_granger.hpp"
#include "hedgers/boa.hpp"
#include "hedgers/coin_betting.hpp"
#include "hedgers/decreasing_hedge.hpp"
#include "hedgers/dorm.hpp"
#include "hedgers/dorm_plus.hpp"
#include "hedgers/fixed_share.hpp"
#include "hedgers/flip_flop.hpp"
#include "hedgers/follow_the_leader.hpp"
#include "hedgers/hedge.hpp"
#include "hedgers/ml_poly.hpp"
#include "hedgers/ml_poly_opera.hpp"
#include "hedgers/ml_prod.hpp"
#include "hedgers/normal_hedge.hpp"
#include "hedgers/normal_hedge_2009.hpp"
#include "hedgers/normal_hedge_bh.hpp"
#include "hedgers/normal_hedge_dt.hpp"
#include "hedgers/normal_hedge_late.hpp"
#include "hedgers/optimistic_hedge.hpp"
#include "hedgers/regret_matching.hpp"
#include "hedgers/regret_matching_plus.hpp"
#include "hedgers/squint.hpp"
#include "hedgers/squint_common.hpp"
#include "hedgers/uniform.hpp"
#include "hedgers/variable_share.hpp"

namespace normalhedge::engine {

namespace {

using Make = std::unique_ptr<Hedger> (*)(const std::vector<double>&, const std::vector<double>&);

template <class Algorithm>
std::unique_ptr<Hedger> make(const std::vector<double>& settings,
                             const std::vector<double>& halving) {
    if (settings.size() == Algorithm::settings) {
        auto hedger = std::make_unique<HedgerOf<Algorithm>>(settings, halving);
        if (halving.size() == hedger->rows() + hedger->totals() + 1) return hedger;
    }
    throw std::invalid_argument("a hedger of the core was given other settings than it has");
}

const std::map<std::string, Make> makers = {
    {"ada_hedge", make<AdaHedge>},
    {"ada_hedge_d", make<AdaHedgeD>},
    {"ada_normal_hedge", make<AdaNormalHedge>},
    {"bates_granger", make<BatesGranger>},
    {"boa", make<BOA>},
    {"coin_betting", make<CoinBetting>},
    {"decreasing_hedge", make<DecreasingHedge>},
    {"dorm", make<DORM>},
    {"dorm_plus", make<DORMPlus>},
    {"fixed_share", make<FixedShare>},
    {"flip_flop", make<FlipFlop>},
    {"follow_the_leader", make<FollowTheLeader>},
    {"hedge", make<Hedge>},
    {"ml_poly", make<MLPoly>},
    {"ml_poly_opera", make<MLPolyOpera>},
    {"ml_prod", make<MLProd>},
    {"normal_hedge", make<NormalHedge>},
    {"normal_hedge_2009", make<NormalHedge2009>},
    {"normal_hedge_bh", make<NormalHedgeBH>},
    {"normal_hedge_dt", make<NormalHedgeDT>},
    {"normal_hedge_late", make<NormalHedgeLate>},
    {"optimistic_hedge", make<OptimisticHedge>},
    {"regret_matching", make<RegretMatching>},
    {"regret_matching_plus", make<RegretMatchingPlus>},
    {"squint", make<Squint>},
    {"squint_common", make<SquintCommon>},
    {"uniform", make<Uniform>},
    {"variable_share", make<VariableShare>},
};

}  // namespace

std::unique_ptr<Hedger> make_hedger(const std::string& name, const std::vector<double>& settings,
                                    const std::vector<double>& halving) {
    const auto maker = makers.find(name);
    return maker == makers.end() ? nullptr : maker->second(settings, halving);
}

}  // namespace normalhedge::engine
