// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/detail/platform/block_pool.hpp>

#include "support/memory.hpp"

namespace block_pool_test {

using asio_sync::detail::pool_allocator;
using namespace asio_sync::test;
namespace pool = asio_sync::detail::pool;

template <std::size_t Size>
struct object {
  std::array<std::byte, Size> bytes;
};

template <class T>
std::vector<T*> allocate(std::size_t n) {
  std::vector<T*> result(n);
  for (auto& p : result) {
    p = pool_allocator<T>().allocate(1);
    std::memset(static_cast<void*>(p), 0xff, sizeof(T));
  }
  return result;
}

template <class T>
void deallocate(std::vector<T*> const& blocks) {
  for (T* p : blocks) pool_allocator<T>().deallocate(p, 1);
}

// What comes from the heap when so many are allocated and given back.
template <class T>
std::size_t heap_allocations(std::size_t n) {
  std::vector<T*> blocks(n);
  heap_counter const heap;
  for (auto& p : blocks) p = pool_allocator<T>().allocate(1);
  std::size_t const result = heap.allocations();
  deallocate(blocks);
  return result;
}

}  // namespace block_pool_test

BOOST_AUTO_TEST_SUITE(block_pool_test)

BOOST_AUTO_TEST_CASE(blocks_are_distinct_and_aligned) {
  auto const blocks = allocate<object<40>>(1000);
  std::set<void*> const distinct(blocks.begin(), blocks.end());
  BOOST_TEST(distinct.size() == 1000u);
  for (void* p : distinct)
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(p) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0u);
  deallocate(blocks);
}

BOOST_AUTO_TEST_CASE(R12_sizes_of_one_class_share_blocks_and_others_do_not) {
  empty_pool const empty;
  deallocate(allocate<object<96>>(1));
  BOOST_TEST(heap_allocations<object<81>>(1) == 0u);
  BOOST_TEST(heap_allocations<object<80>>(1) == 1u);
  BOOST_TEST(heap_allocations<object<97>>(1) == 1u);
}

BOOST_AUTO_TEST_CASE(R12_blocks_are_used_again) {
  empty_pool const empty;
  BOOST_TEST(heap_allocations<object<96>>(4096) == 4096u);
  BOOST_TEST(heap_allocations<object<96>>(4096) == 0u);
  BOOST_TEST(heap_allocations<object<96>>(4096) == 0u);
}

BOOST_AUTO_TEST_CASE(R12_what_does_not_fit_comes_from_the_heap) {
  empty_pool const empty;
  BOOST_TEST(heap_allocations<object<512>>(1) == 1u);
  BOOST_TEST(heap_allocations<object<512>>(1) == 0u);
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(heap_allocations<object<513>>(1) == 1u);
  }
  auto* const array = pool_allocator<object<8>>().allocate(3);
  pool_allocator<object<8>>().deallocate(array, 3);
}

BOOST_AUTO_TEST_CASE(R12_what_is_aligned_more_than_others) {
  struct alignas(128) wide {
    std::byte bytes[40];
  };
  auto const blocks = allocate<wide>(100);
  for (void* p : blocks) BOOST_TEST(reinterpret_cast<std::uintptr_t>(p) % alignof(wide) == 0u);
  deallocate(blocks);
}

// MinGW's g++ frees the memory of thread locals before it destroys them. So a thread that ends
// loses the blocks of its magazines, fewer than `capacity` of each size.
#if !defined(__MINGW32__)
BOOST_AUTO_TEST_CASE(R12_blocks_given_back_on_another_thread_come_round) {
  using type = object<200>;
  empty_pool const empty;
  for (int turn = 0; turn < 5; ++turn) {
    std::size_t allocations = 0;
    std::vector<type*> blocks(4096);
    {
      heap_counter const heap;
      for (auto& p : blocks) p = pool_allocator<type>().allocate(1);
      allocations = heap.allocations();
    }
    BOOST_TEST(allocations == (turn == 0 ? 4096u : 0u));
    std::thread([&] { deallocate(blocks); }).join();
  }
}
#endif

BOOST_AUTO_TEST_CASE(R12_pool_keeps_no_more_than_it_may) {
  using type = object<300>;
  empty_pool const empty;
  constexpr std::size_t kept = pool::capacity + pool::batch * pool::depot_capacity;
  auto const blocks = allocate<type>(kept + 1000);
  std::size_t freed = 0;
  {
    heap_counter const heap;
    deallocate(blocks);
    freed = heap.deallocations();
  }
  BOOST_TEST(freed >= 1000u);
  BOOST_TEST(freed <= 1000u + pool::capacity);
}

BOOST_AUTO_TEST_CASE(R13_pool_throws_what_the_heap_throws_and_gives_out_what_it_has) {
  using type = object<400>;
  empty_pool const empty;
  deallocate(allocate<type>(100));
  std::vector<type*> blocks;
  blocks.reserve(101);
  bool thrown = false;
  {
    failing_heap const heap;
    try {
      for (;;) blocks.push_back(pool_allocator<type>().allocate(1));
    } catch (std::bad_alloc const&) {
      thrown = true;
    }
  }
  BOOST_TEST(thrown);
  BOOST_TEST(blocks.size() == 100u);
  deallocate(blocks);
}

#if !defined(__MINGW32__)  // as above
BOOST_AUTO_TEST_CASE(R17_pool_works_until_the_thread_ends) {
  // Made before the pool opens its magazines, this is destroyed after it has closed them.
  struct late {
    explicit late(std::size_t& f) noexcept : freed(f) {}
    ~late() {
      heap_counter const heap;
      deallocate(blocks);
      freed = heap.deallocations();
      deallocate(allocate<object<96>>(10));
    }
    std::size_t& freed;
    std::vector<object<96>*> blocks;
  };
  std::size_t freed = 0;
  std::thread([&freed] {
    static thread_local late l(freed);
    l.blocks = allocate<object<96>>(300);
    deallocate(allocate<object<96>>(300));
  }).join();
  BOOST_TEST(freed == 300u);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
