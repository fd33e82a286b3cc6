// A reference to a function that is owned elsewhere, by its signature alone: for parameters of
// functions that would otherwise be compiled once for every lambda they are given. Costs an
// indirect call.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace conclave {

template <class Signature>
class FunctionRef;

// Never empty, and as cheap to copy as two pointers. The function must outlive it, so do not store
// one beyond the call that it is an argument of.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Function>
    requires(!std::same_as<std::remove_cvref_t<Function>, FunctionRef> &&
             std::is_invocable_r_v<Result, const Function&, Arguments...>)
  FunctionRef(const Function& function)
      : function_(std::addressof(function)), call_(&call<Function>) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  template <class Function>
  static Result call(const void* function, Arguments... arguments) {
    return (*static_cast<const Function*>(function))(std::forward<Arguments>(arguments)...);
  }

  const void* function_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace conclave
