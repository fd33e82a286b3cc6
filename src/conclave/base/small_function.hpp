// A function that is small and plain enough to be copied as bytes, such as a lambda that captures
// references and numbers. Unlike std::function it owns nothing, so that neither copies nor the end
// of it need code that is compiled for every lambda.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace conclave {

template <class Signature>
class SmallFunction;

// Empty until a function is assigned; an empty one must not be called. Everything that the function
// refers to must outlive it.
template <class Result, class... Arguments>
class SmallFunction<Result(Arguments...)> {
 public:
  static constexpr std::size_t most_bytes = 64;

  SmallFunction() noexcept = default;
  SmallFunction(std::nullptr_t) {}
  template <class Function>
    requires(!std::same_as<Function, SmallFunction> &&
             std::is_invocable_r_v<Result, const Function&, Arguments...>)
  SmallFunction(Function function) : call_(&call<Function>) {
    static_assert(sizeof(Function) <= most_bytes);
    static_assert(alignof(Function) <= alignof(std::max_align_t));
    static_assert(std::is_trivially_copyable_v<Function>);
    ::new (static_cast<void*>(bytes_.data())) Function(function);
  }

  explicit operator bool() const { return call_ != nullptr; }
  friend bool operator==(const SmallFunction& function, std::nullptr_t) { return !function; }

  Result operator()(Arguments... arguments) const {
    return call_(bytes_.data(), std::forward<Arguments>(arguments)...);
  }

 private:
  template <class Function>
  static Result call(const std::byte* bytes, Arguments... arguments) {
    return (*std::launder(reinterpret_cast<const Function*>(bytes)))(
        std::forward<Arguments>(arguments)...);
  }

  alignas(std::max_align_t) std::array<std::byte, most_bytes> bytes_{};
  Result (*call_)(const std::byte*, Arguments...) = nullptr;
};

}  // namespace conclave
