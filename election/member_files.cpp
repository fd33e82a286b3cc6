#include "election/member_files.hpp"

#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/read_text.hpp"
#include "election/service.hpp"
#include "election/system.hpp"

namespace conclave::election {
namespace {

constexpr std::size_t most_pem_text = std::size_t{1} << 20;

// A list, or a table where numbers have gaps.
std::string members_text(const MemberFiles& files) {
  const bool has_gaps = files.members.back().member + 1 != files.members.size();
  std::string text = has_gaps ? "[members]\n" : "members = [\n";
  for (const Seat& seat : files.members) {
    const std::string address = to_string(seat.endpoint);
    text += has_gaps ? fmt::format("{} = \"{}\"\n", seat.member, address)
                     : fmt::format("  \"{}\",\n", address);
  }
  return has_gaps ? text : text + "]\n";
}

// All of it: a member with other times is refused by the others.
std::string timing_text(const Timing& timing) {
  return fmt::format("[timing]\nlease_ms = {}\nrenewal_ms = {}\npatience_ms = {}\nanswer_ms = {}\n"
                     "election_ms = {}\nclock_drift = {}\n",
                     timing.lease.count(), timing.renewal.count(), timing.patience.count(),
                     timing.answer.count(), timing.election.count(), timing.clock_drift);
}

std::string toml_quoted(const std::string& text) {
  std::string result;
  for (const char each : text) {
    if (each == '"' || each == '\\') result += '\\';
    result += each;
  }
  return result;
}

// The name of a member's files, without their endings.
std::string member_name(MemberIndex member) { return fmt::format("member-{}", member); }

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
  const std::string timing = files.timing ? timing_text(*files.timing) : "";
  return fmt::format(
      "# Member {0} of the cluster.\n{1}"
      "cluster = \"{2}\"\nidentity = \"{11:016x}\"\nmember = {0}\n{3}"
      "authority = \"{4}\"\ncertificate = \"{5}.pem\"\nkey = \"{5}.key\"\n"
      "state = \"{5}.state\"\n{6}"
      "wake = true    # start an election; false: wait until another member does\n"
      "stay = {7}   # true: go on after the leader is known, and elect again when it fails\n"
      "{8}status = \"{5}.sock\"\n{9}{10}",
      files.member.member, head, files.member.cluster, is_table ? "" : members,
      toml_quoted(files.authority), name, files.is_elastic ? "elastic = true\n" : "",
      files.is_elastic ? "true " : "false", files.is_elastic ? "" : "# ", timing,
      is_table ? members : "", files.identity);
}

// As Output does, but never in the place of another file; write_new_key for its owner alone.
void write_new_file(const std::filesystem::path& path, const std::string& text, FreshFiles& fresh) {
  if (std::filesystem::exists(std::filesystem::symlink_status(path)))
    throw Error(fmt::format("'{}' exists", path.string()));
  write_file(path.string(), text);
  fresh.add(path);
}

void write_new_key(const std::filesystem::path& path, const std::string& text, FreshFiles& fresh) {
  write_private_file(path.string(), text);
  fresh.add(path);
}

std::vector<Endpoint> addresses_of(const NewCluster& cluster) {
  std::vector<Endpoint> members;
  for (MemberIndex each = 0; each < cluster.members; ++each)
    members.push_back(
        parse_endpoint(fmt::format("{}:{}", cluster.host, cluster.first_port + each)));
  return members;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make '{}': {}", folder.string(), error.message()));
}

}  // namespace

FreshFiles::~FreshFiles() {
  std::error_code ignored;
  for (const auto& path : paths_) std::filesystem::remove(path, ignored);
}

std::filesystem::path write_member_files(const MemberFiles& files, const Authority& authority,
                                         const Validity& validity, FreshFiles& fresh) {
  const auto credentials = issue_credentials(authority, files.member, validity);
  const std::string name = member_name(files.member.member);
  std::filesystem::path config = files.folder / (name + ".toml");
  write_new_file(files.folder / (name + ".pem"), credentials.certificate, fresh);
  write_new_key(files.folder / (name + ".key"), credentials.key, fresh);
  write_new_file(config, config_text(files), fresh);
  return config;
}

void renew_certificate(const std::filesystem::path& certificate, const Authority& authority,
                       const Validity& validity) {
  const std::string old = read_text(certificate.string(), most_pem_text, Limit::fixed);
  write_file(certificate.string(), renewed(old, authority, validity));
}

// The new key first: without its certificate it signs nothing, and the old one is kept.
void exchange_authority(const std::filesystem::path& folder, const std::string& cluster,
                        const Validity& validity) {
  const std::filesystem::path key = folder / "ca.key", old_key = folder / "ca.key.old";
  const std::string before = read_text((folder / "ca.pem").string(), most_pem_text, Limit::fixed);
  if (std::filesystem::exists(std::filesystem::symlink_status(old_key)))
    throw Error(fmt::format("'{}' exists: an exchange before this one has not been ended",
                            old_key.string()));
  const Authority next = make_authority(cluster, validity);
  std::error_code error;
  std::filesystem::rename(key, old_key, error);
  if (error) throw Error(fmt::format("cannot rename '{}': {}", key.string(), error.message()));
  write_private_file(key.string(), next.key);
  write_file((folder / "ca.pem").string(), next.certificate + before);
}

void write_cluster(const NewCluster& cluster) {
  check_cluster_name(cluster.name);
  make_folder(cluster.folder);
  const Validity validity = valid_for(cluster.validity);
  const Authority authority = make_authority(cluster.name, valid_for(cluster.authority_validity));
  FreshFiles fresh;
  write_new_file(cluster.folder / "ca.pem", authority.certificate, fresh);
  write_new_key(cluster.folder / "ca.key", authority.key, fresh);
  const std::vector<Endpoint> members = addresses_of(cluster);
  MemberFiles files{.folder = cluster.folder,
                    .member = {cluster.name, 0},
                    .members = founded_by(members).seats,
                    .is_elastic = cluster.is_elastic,
                    .identity = unforeseeable_number()};
  if (cluster.is_elastic && !fits_message(files.members))
    throw Error("the list of an elastic cluster must fit into one message: take fewer members");
  for (MemberIndex& each = files.member.member; each < cluster.members; ++each) {
    write_member_files(files, authority, validity, fresh);
    ServiceOptions options;
    options.transport.cluster = cluster.name;
    options.transport.self = each;
    options.transport.members = members;
    options.is_elastic = cluster.is_elastic;
    options.identity = files.identity;
    options.state_file = (cluster.folder / (member_name(each) + ".state")).string();
    write_founding_file(options);
    fresh.add(options.state_file);
    fresh.add(options.state_file + ".lock");
  }
  fresh.keep();
}

}  // namespace conclave::election
