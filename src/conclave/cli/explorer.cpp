// `conclave explorer`: serves the page that watches, attacks and edits protocols, on this machine
// alone. The files are read once, at the start; a request names one of them or gets 404. Nothing
// that a visitor sends reaches the file system.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/descriptor.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/folders.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/option_values.hpp"

namespace conclave::cli {
namespace {

namespace fs = std::filesystem;

struct ExplorerOptions {
  std::string port = "0";
  std::string open;  // the words after '#'
  std::string page;  // the folder of the page; empty: the built or installed one
  bool stays_in_terminal = false;
};

struct File {
  std::string_view type;
  std::string content;
  std::string brotli{};  // the content compressed, from a file NAME.br beside it; empty: none
};
using Files = std::map<std::string, File, std::less<>>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{
    {{".html", "text/html; charset=utf-8"},
     {".js", "text/javascript"},
     {".css", "text/css"},
     {".wasm", "application/wasm"}}};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The page's files by the paths of requests: index.html, explorer.html, conclave.wasm, assets/...
Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& each : fs::recursive_directory_iterator(folder)) {
    if (!each.is_regular_file()) continue;
    for (const auto& [ending, type] : types) {
      if (each.path().extension() != ending) continue;
      const std::string path = "/" + fs::relative(each.path(), folder).generic_string();
      files.insert_or_assign(
          path, File{type, content_of(each.path()), content_of(each.path().string() + ".br")});
    }
  }
  if (const auto index = files.find("/index.html"); index != files.end()) {
    files.insert_or_assign("/", index->second);
  }
  return files;
}

// The script that builds the page into one of these folders: tools/page of its source tree.
std::optional<fs::path> builder_of(const std::vector<std::string>& folders) {
  std::error_code ignored;
  for (const std::string& folder : folders) {
    fs::path script = fs::path(folder).parent_path().parent_path() / "tools" / "page";
    if (fs::exists(script, ignored)) return script;
  }
  return std::nullopt;
}

// Runs a program with our terminal; whether it ended well.
bool ends_well(const fs::path& program) {
  std::string name = program.string();
  std::array<char*, 2> words{name.data(), nullptr};
  pid_t child = 0;
  int status = 1;
  return posix_spawn(&child, name.c_str(), nullptr, nullptr, words.data(), environ) == 0 &&
         waitpid(child, &status, 0) == child && status == 0;
}

// On a terminal, offers to build the page; whether that was done.
bool is_built_on_request(const std::vector<std::string>& folders) {
  const std::optional<fs::path> script = builder_of(folders);
  if (!script || isatty(STDIN_FILENO) != 1 || !error_is_terminal()) return false;
  tell("The explorer is not built yet. Build it now with {}? It takes some minutes, and needs "
       "clang-19 for wasm32 and Node with npm. [y/N]\n",
       script->string());
  std::string reply;
  std::getline(std::cin, reply);
  if (reply != "y" && reply != "Y" && reply != "yes") return false;
  if (!ends_well(*script)) throw Error("tools/page failed; its messages are above");
  return true;
}

std::optional<Files> shipped_page(const std::vector<std::string>& folders) {
  std::error_code ignored;
  for (const std::string& folder : folders) {
    if (fs::exists(fs::path(folder) / "index.html", ignored)) return files_in(folder);
  }
  return std::nullopt;
}

Files page_files(const std::string& wanted) {
  std::error_code ignored;
  if (!wanted.empty()) {
    if (fs::exists(fs::path(wanted) / "index.html", ignored)) return files_in(wanted);
    throw Error(
        fmt::format("the folder '{}' holds no explorer: there is no index.html in it", wanted));
  }
  const std::vector<std::string> folders = shipped_folders();
  std::optional<Files> files = shipped_page(folders);
  if (!files && is_built_on_request(folders)) files = shipped_page(folders);
  if (files) return *std::move(files);
  throw Error(fmt::format(
      "the explorer is not built. In the source folder run: tools/page (some minutes; needs "
      "clang-19 for wasm32, and Node with npm), then again: conclave explorer. Searched: {}",
      join_parts(folders, ", ")));
}

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// Listens on the loopback address; returns the port.
std::uint16_t listen_on(const Descriptor& socket, std::uint16_t port) {
  const int yes = 1;
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket.number(), any, sizeof address) != 0 || listen(socket.number(), SOMAXCONN) != 0) {
    throw_errno("cannot listen on that port");
  }
  socklen_t size = sizeof address;
  getsockname(socket.number(), any, &size);
  return ntohs(address.sin_port);
}

// `headers` are further ones, each with its end of line.
std::string answer(std::string_view status, std::string_view type, std::string_view body,
                   std::string_view headers = {}) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n"
      "X-Content-Type-Options: nosniff\r\n{}Connection: close\r\n\r\n{}",
      status, type, body.size(), headers, body);
}

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// The value of the request's header with this name, in capital or small letters, such as "Host";
// empty where there is none.
std::string_view header(std::string_view request, std::string_view name) {
  const std::string begin = fmt::format("\r\n{}:", name);
  const auto found =
      std::search(request.begin(), request.end(), begin.begin(), begin.end(), is_same_letter);
  if (found == request.end()) return {};
  std::string_view value(found + static_cast<std::ptrdiff_t>(begin.size()), request.end());
  value = value.substr(0, value.find('\r'));
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return value;
}

bool takes_brotli(std::string_view request) {
  const auto codings = split_parts(header(request, "Accept-Encoding"), ',');
  return std::ranges::any_of(codings, [](std::string_view coding) {
    return coding.substr(std::min(coding.find_first_not_of(' '), coding.size())) == "br";
  });
}

// Pages of others may send requests here, under their own names; those are refused.
bool is_for_this_machine(std::string_view request) {
  const std::string_view host = header(request, "Host");
  const std::string_view name = host.substr(0, host.find(':'));
  return name == "127.0.0.1" || name == "localhost";
}

std::string answer_to(std::string_view request, const Files& files) {
  constexpr std::string_view get = "GET ";
  if (!request.starts_with(get)) {
    return answer("405 Method Not Allowed", "text/plain", "only GET is answered here\n");
  }
  if (!is_for_this_machine(request)) {
    return answer("403 Forbidden", "text/plain", "this explorer is for this machine alone\n");
  }
  const std::string_view rest = request.substr(get.size());
  const std::string_view path = rest.substr(0, rest.find_first_of(" ?\r"));
  const auto found = files.find(path);
  if (found == files.end()) return answer("404 Not Found", "text/plain", "there is no such file\n");
  const File& file = found->second;
  if (file.brotli.empty() || !takes_brotli(request)) {
    return answer("200 OK", file.type, file.content);
  }
  return answer("200 OK", file.type, file.brotli, "Content-Encoding: br\r\n");
}

// A visitor: its question as far as it has come, then the answer as far as it has gone. The
// server waits for none in particular, so a silent one delays no other: browsers open connections
// before they know whether they need them.
class Visitor {
 public:
  explicit Visitor(Descriptor socket) : socket_(std::move(socket)) {}

  pollfd waits_for() const {
    const short event = reply_.empty() ? POLLIN : POLLOUT;
    return {.fd = socket_.number(), .events = event, .revents = 0};
  }
  bool is_gone() const { return is_gone_ || Clock::now() > until_; }

  void go_on(const Files& files) {
    if (reply_.empty()) {
      read(files);
    } else {
      write();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t longest_request = 16384;

  void read(const Files& files) {
    std::array<char, 4096> part{};
    const ssize_t length = recv(socket_.number(), part.data(), part.size(), 0);
    is_gone_ = length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
    if (length <= 0) return;
    request_.append(part.data(), static_cast<std::size_t>(length));
    const bool is_whole = request_.find("\r\n\r\n") != request_.npos;
    if (is_whole || request_.size() >= longest_request) reply_ = answer_to(request_, files);
  }

  void write() {
    const std::string_view rest = std::string_view(reply_).substr(sent_);
    const ssize_t length = send(socket_.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (length > 0) sent_ += static_cast<std::size_t>(length);
    is_gone_ = sent_ == reply_.size() || (length < 0 && errno != EAGAIN && errno != EINTR);
  }

  Descriptor socket_;
  Clock::time_point until_ = Clock::now() + std::chrono::seconds(30);
  std::string request_;
  std::string reply_;
  std::size_t sent_ = 0;
  bool is_gone_ = false;
};

// Answers whoever comes to the socket until Ctrl-C. Of too many visitors the oldest has to leave.
void serve(const Descriptor& socket, const Files& files) {
  constexpr std::size_t most_visitors = 64;
  std::vector<Visitor> visitors;
  while (!interrupted_flag()) {
    std::vector<pollfd> waiting{{.fd = socket.number(), .events = POLLIN, .revents = 0}};
    for (const Visitor& each : visitors) waiting.push_back(each.waits_for());
    if (poll(waiting.data(), waiting.size(), 200) < 0) continue;
    for (std::size_t i = 0; i < visitors.size(); ++i) {
      if (waiting[i + 1].revents != 0) visitors[i].go_on(files);
    }
    std::erase_if(visitors, [](const Visitor& each) { return each.is_gone(); });
    if (waiting.front().revents == 0) continue;
    Descriptor visitor(accept4(socket.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (visitor.number() < 0) continue;
    if (visitors.size() == most_visitors) visitors.erase(visitors.begin());
    visitors.emplace_back(std::move(visitor));
  }
}

// Asks the desktop to show an address; a machine without one just goes on.
void show(const std::string& address) {
  std::string program = "xdg-open";
  std::string argument = address;
  std::array<char*, 3> words{program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "xdg-open", nullptr, nullptr, words.data(), environ) == 0) {
    int status = 0;
    waitpid(child, &status, WNOHANG);
  }
}

Exit explorer(const ExplorerOptions& options) {
  const auto port =
      static_cast<std::uint16_t>(experiment::count_option_64("--port", options.port, 0, 65535));
  const Files files = page_files(options.page);
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.number() < 0) throw_errno("cannot open a socket");
  const std::string place = fmt::format("http://127.0.0.1:{}/", listen_on(socket, port));
  const std::string address = options.open.empty() ? place : place + "#" + options.open;
  fmt::print("the explorer is at {} until Ctrl-C\n", address);
  std::fflush(stdout);
  if (!options.stays_in_terminal) show(address);
  serve(socket, files);
  return Exit::done;
}

}  // namespace

void add_explorer(Command& conclave) {
  auto options = std::make_shared<ExplorerOptions>();
  Command command =
      conclave.subcommand("explorer", "Watch, attack and edit protocols in a browser");
  command.option("--port", "P", options->port, "Port on this machine (default: any that is free)");
  command.option("--open", "VIEW", options->open,
                 "Show this view, such as 'run/prl?n=64&seed=7&init=random'");
  command.option("--page", "FOLDER", options->page,
                 "Serve the explorer in this folder (default: the built or installed one)");
  command.flag("--no-browser", options->stays_in_terminal, "Print the address and open nothing");
  command.footer(R"(
Examples:
  conclave explorer
  conclave explorer --port 8080 --no-browser
  conclave explorer --open 'run/prl?n=64&seed=7&init=random'

Only this machine can reach it. Ctrl-C ends it.)");
  command.runs([options] { return explorer(*options); });
}

}  // namespace conclave::cli
