#include "conclave/cli/member_files.hpp"

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"

namespace conclave::cli {
namespace {

// A list, or a table where numbers have gaps.
std::string members_text(const MemberFiles& files) {
  const bool has_gaps = files.members.back().member + 1 != files.members.size();
  std::string text = has_gaps ? "[members]\n" : "members = [\n";
  for (const election::Seat& seat : files.members) {
    const std::string address = to_string(seat.endpoint);
    text += has_gaps ? fmt::format("{} = \"{}\"\n", seat.member, address)
                     : fmt::format("  \"{}\",\n", address);
  }
  return has_gaps ? text : text + "]\n";
}

std::string config_text(const MemberFiles& files) {
  const std::string name = member_name(files.member.member);
  const bool is_table = files.members.back().member + 1 != files.members.size();
  const std::string members = members_text(files);
  const std::string head =
      files.is_elastic
          ? "# The list of members may change while the cluster runs (conclave cluster add and "
            "remove):\n"
            "# the state file holds it, and the one below is whom to ask where that file is lost.\n"
          : "# Put the true addresses of all members here, the same list everywhere; give each\n"
            "# machine its own certificate and key, and ca.pem.\n";
  const std::string timing =
      files.lease.count() > 0 ? fmt::format("[timing]\nlease_ms = {}\n", files.lease.count()) : "";
  return fmt::format(
      "# Member {0} of the cluster.\n{1}"
      "cluster = \"{2}\"\nmember = {0}\n{3}"
      "authority = \"{4}\"\ncertificate = \"{5}.pem\"\nkey = \"{5}.key\"\n"
      "state = \"{5}.state\"\n{6}"
      "wake = true    # start an election; false: wait until another member does\n"
      "stay = {7}   # true: go on after the leader is known, and elect again when it fails\n"
      "{8}status = \"{5}.sock\"\n{9}{10}",
      files.member.member, head, files.member.cluster, is_table ? "" : members, files.authority,
      name, files.is_elastic ? "elastic = true\n" : "", files.is_elastic ? "true " : "false",
      files.is_elastic ? "" : "# ", timing, is_table ? members : "");
}

}  // namespace

std::string member_name(election::MemberIndex member) { return fmt::format("member-{}", member); }

void write_new_file(const std::filesystem::path& path, const std::string& text) {
  if (std::filesystem::exists(std::filesystem::symlink_status(path)))
    throw Error(fmt::format("'{}' exists", path.string()));
  write_file(path.string(), text);
}

std::filesystem::path write_member_files(const MemberFiles& files,
                                         const election::Authority& authority,
                                         const election::Validity& validity) {
  const auto credentials = election::issue_credentials(authority, files.member, validity);
  const std::string name = member_name(files.member.member);
  const std::filesystem::path config = files.folder / (name + ".toml");
  write_new_file(files.folder / (name + ".pem"), credentials.certificate);
  election::write_private_file((files.folder / (name + ".key")).string(), credentials.key);
  write_new_file(config, config_text(files));
  return config;
}

}  // namespace conclave::cli
