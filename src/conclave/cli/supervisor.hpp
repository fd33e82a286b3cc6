// Reports this process's state to its supervisor by systemd's protocol: a datagram of text to the
// socket that NOTIFY_SOCKET names. Written by hand because it takes twenty lines; libsystemd would
// be one more library to link, even on machines without systemd.
#pragma once

#include <string_view>

namespace conclave::cli {

// "READY=1", "STOPPING=1", "STATUS=...", several of them on lines of their own. Does nothing if
// NOTIFY_SOCKET is not set; never blocks, throws or fails.
void notify_supervisor(std::string_view state);

}  // namespace conclave::cli
