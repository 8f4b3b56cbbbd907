// Metrics that say the same: groups whose rank correlation is beyond a limit share one vote instead of
// counting twice. Columns are given in one direction (ranks, or values turned so that less is better): then
// two metrics of which one rises where the other falls, but both mean the same, agree; and two that
// contradict each other do not, which is a choice to be made and not a duplicate.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weir::analysis {

inline constexpr double duplicate_limit = 0.9;  // of the rank correlation

// group[i] is the smallest index of a column that column i is joined with, directly or through others.
// Columns of fewer than 5 known pairs are never joined: chance alone would do it.
std::vector<std::size_t> duplicate_groups(const std::vector<std::vector<double>>& columns,
                                          double limit = duplicate_limit);

// Pairs whose rank correlation is below -limit: what is good for one is bad for the other.
std::vector<std::pair<std::size_t, std::size_t>> opposed_pairs(
    const std::vector<std::vector<double>>& columns, double limit = duplicate_limit);

// One vote a group, shared equally by its members. Sums to 1.
std::vector<double> group_weights(const std::vector<std::size_t>& groups);

}  // namespace weir::analysis
