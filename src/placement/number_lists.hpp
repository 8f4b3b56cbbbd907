// A list of lists of numbers in two flat arrays: a million short lists cost eight bytes each, not an
// allocation each.
//
// Threads: plain value.
#pragma once

#include <span>
#include <stdexcept>

#include "platform/numbers.hpp"

namespace weir {

class NumberLists {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::span<const std::uint32_t> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {values_.data() + begin, ends_[i] - begin};
  }
  void add(std::span<const std::uint32_t> list) {
    if (values_.size() + list.size() > UINT32_MAX)
      throw std::length_error("NumberLists: more than 2^32 numbers");
    values_.insert(values_.end(), list.begin(), list.end());
    ends_.push_back(static_cast<std::uint32_t>(values_.size()));
  }
  void add(std::uint32_t value) { add(std::span(&value, 1)); }
  void reserve(std::size_t lists) {
    ends_.reserve(lists);
    values_.reserve(lists);
  }
  const Numbers& values() const { return values_; }  // all lists one after the other
  bool operator==(const NumberLists&) const = default;

 private:
  Numbers ends_;  // of list i in values_
  Numbers values_;
};

}  // namespace weir
