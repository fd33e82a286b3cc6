// Worker threads of a computation that its caller joins.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace conclave {

// Starts threads - 1 workers; the caller is the last one. Where the system gives fewer, returns the
// exception to throw once all are joined: it comes before those of the workers, which may only have
// found no memory beside so many stacks. Null if all have started.
std::exception_ptr start_workers(std::vector<std::jthread>& workers, unsigned threads,
                                 const std::function<void()>& work);

}  // namespace conclave
