// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_ARENA_HPP
#define ASIO_SYNC_TEST_MODEL_ARENA_HPP

#include "fiber.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace model::detail {

/// The tracked heap of one run.
///
/// Addresses only grow and nothing is reused before the run has ended, so a freed block stays
/// recognisable. It is filled with a pattern that the audit looks for; under AddressSanitizer it
/// is poisoned as well, and so is the gap between two blocks.
class arena {
 public:
  arena() : memory_{new std::byte[capacity]} { hide(memory_.get(), capacity); }
  ~arena() { show(memory_.get(), capacity); }

  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Null if the run has used up its memory.
  void* allocate(std::size_t size, std::size_t alignment) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.get()) + used_ + gap;
    const auto aligned = (at + alignment - 1) / alignment * alignment;
    const std::size_t offset = aligned - reinterpret_cast<std::uintptr_t>(memory_.get());
    if (size > capacity || offset > capacity - size) {
      return nullptr;
    }
    std::byte* begin = memory_.get() + offset;
    show(begin, size);
    std::memset(begin, fresh, size);
    blocks_.push_back({begin, size, false});
    used_ = offset + size;
    return begin;
  }

  /// Frees a block; otherwise says what is wrong with it.
  const char* free(void* pointer) {
    const std::size_t index = find(pointer);
    if (index == none || blocks_[index].begin != pointer) {
      return "free of what was never allocated";
    }
    block& found = blocks_[index];
    if (found.freed) {
      return "double free";
    }
    found.freed = true;
    ++freed_;
    std::memset(found.begin, poison, found.size);
    hide(found.begin, found.size);
    return nullptr;
  }

  bool owns(const void* pointer) const {
    const auto base = reinterpret_cast<std::uintptr_t>(memory_.get());
    return reinterpret_cast<std::uintptr_t>(pointer) - base < capacity;
  }

  /// Whether this is inside a block that has been freed in this run.
  bool freed(const void* pointer) const {
    if (freed_ == 0 || !owns(pointer)) {
      return false;
    }
    const std::size_t index = find(pointer);
    return index != none && blocks_[index].freed;
  }

  /// What a finished run has left behind it: a leak, a write after free, or nothing.
  std::string audit() const {
    for (const block& each : blocks_) {
      if (!each.freed) {
        return "leak: " + std::to_string(blocks_.size() - freed_) + " of " +
               std::to_string(blocks_.size()) + " tracked objects never freed, the first of " +
               std::to_string(each.size) + " bytes";
      }
      show(each.begin, each.size);
      if (*each.begin != std::byte{poison} ||
          std::memcmp(each.begin, each.begin + 1, each.size - 1) != 0) {
        return "use after free: a freed object of " + std::to_string(each.size) +
               " bytes was written to";
      }
      hide(each.begin, each.size);
    }
    return {};
  }

  void reset() {
    hide(memory_.get(), used_);
    blocks_.clear();
    used_ = 0;
    freed_ = 0;
  }

 private:
  static constexpr std::size_t capacity = 1024 * 1024;
  static constexpr std::size_t gap = 16;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr unsigned char fresh = 0xCD;
  static constexpr unsigned char poison = 0xDD;

  struct block {
    std::byte* begin;
    std::size_t size;
    bool freed;
  };

  // The block that the pointer points into.
  std::size_t find(const void* pointer) const {
    const auto after =
        std::upper_bound(blocks_.begin(), blocks_.end(), pointer,
                         [](const void* value, const block& each) { return value < each.begin; });
    if (after == blocks_.begin() || pointer >= after[-1].begin + after[-1].size) {
      return none;
    }
    return static_cast<std::size_t>(after - blocks_.begin()) - 1;
  }

  static void hide([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t size) {
#ifdef ASIO_SYNC_MODEL_ASAN
    __asan_poison_memory_region(begin, size);
#endif
  }

  static void show([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t size) {
#ifdef ASIO_SYNC_MODEL_ASAN
    __asan_unpoison_memory_region(begin, size);
#endif
  }

  std::unique_ptr<std::byte[]> memory_;
  std::vector<block> blocks_;
  std::size_t used_ = 0;
  std::size_t freed_ = 0;
};

}  // namespace model::detail

#endif
