// Tells the process that has started this one how it is doing, by systemd's protocol: a datagram of
// text to the socket that NOTIFY_SOCKET names. Written by hand because it is twenty lines, and
// libsystemd would be a library more to link, also where no systemd runs.
#pragma once

#include <string_view>

namespace conclave::cli {

// "READY=1", "STOPPING=1", "STATUS=...", several of them on lines of their own. Does nothing where
// nothing asks for it; never blocks, throws or fails.
void notify_supervisor(std::string_view state);

}  // namespace conclave::cli
