// `conclave cluster init`, `add`, `remove`, `renew`, `repair`, `backup` and `restore`: the files of
// a cluster's members, and its list of members while it runs.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "election/leader_client.hpp"
#include "election/member_files.hpp"
#include "election/repair.hpp"

namespace conclave::cli {
namespace {

std::chrono::days days_option(std::string_view name, const std::string& days) {
  return std::chrono::days(count_option_64(name, days, 1, 36500));
}

struct InitOptions {
  std::string n = "100";
  std::string folder;
  std::string cluster = "conclave";
  std::string host = "127.0.0.1";
  std::string port = "7000";
  std::string days = "90";
  std::string authority_days = "3650";
  bool is_elastic = false;
};

Exit init(const InitOptions& options) {
  if (!election::is_plain_host(options.host))  // it goes into configuration files between quotes
    throw Error(fmt::format("--host takes a name or an address, such as 10.0.0.7, not '{}'",
                            excerpt(options.host)));
  const std::uint64_t n = count_option_64("--n", options.n, 1, most_processes);
  const std::uint64_t port = count_option_64("--port", options.port, 1, 65536 - n);
  const std::filesystem::path folder = options.folder;
  election::write_cluster(
      {.folder = folder,
       .name = options.cluster,
       .host = options.host,
       .first_port = static_cast<std::uint16_t>(port),
       .members = static_cast<election::MemberIndex>(n),
       .validity = days_option("--days", options.days),
       .authority_validity = days_option("--authority-days", options.authority_days),
       .is_elastic = options.is_elastic});
  fmt::print("{} members of cluster '{}' in {}: start each with conclave node --config {}\n", n,
             options.cluster, options.folder, (folder / "member-0.toml").string());
  fmt::print("{} signs further members: keep it where nobody else can read it\n",
             (folder / "ca.key").string());
  return Exit::done;
}

void add_init(Command& cluster) {
  auto options = std::make_shared<InitOptions>();
  Command init_command = cluster.subcommand(
      "init", "Write certificates and configurations for the members of a cluster");
  init_command.word("DIR", options->folder, "The folder to write them to");
  init_command.option("--n", "N", options->n, "Number of members (default 100)");
  init_command.option("--cluster", "NAME", options->cluster,
                      "Name of the cluster (default conclave)");
  init_command.option("--host", "HOST", options->host,
                      "Address of all members, to be edited (default 127.0.0.1)");
  init_command.option("--port", "P", options->port,
                      "Port of member 0; the next has P+1 (default 7000)");
  init_command.flag("--elastic", options->is_elastic,
                    "Members may be added and removed while the cluster runs");
  init_command.option("--days", "D", options->days,
                      "Days the members' certificates are valid (default 90)");
  init_command.option("--authority-days", "D", options->authority_days,
                      "Days the authority's certificate is valid (default 3650)");
  init_command.footer(R"(
Examples:
  conclave cluster init demo --n 3
  conclave cluster init office --n 5 --cluster office --host 10.0.0.7 --port 9000)");
  init_command.runs([options] { return init(*options); });
}

struct AddOptions {
  std::string config;
  std::string address;
  std::string authority_key;
  std::string days = "90";
};

Exit add_seat(const AddOptions& options) {
  const election::LeaderClient leader(options.config);
  const election::NewMember added =
      leader.add({.address = election::parse_endpoint(options.address),
                  .authority_key_file = options.authority_key,
                  .validity = days_option("--days", options.days)});
  fmt::print("member {} gets its seat when it answers: start it with conclave node --config {}\n",
             added.member, added.config_file.string());
  return Exit::done;
}

void add_add(Command& cluster) {
  auto options = std::make_shared<AddOptions>();
  Command add = cluster.subcommand("add", "Add a member to a running elastic cluster");
  add.required_option("--config", "FILE", options->config, "Configuration of the leader");
  add.required_option("--address", "HOST:PORT", options->address,
                      "Where the new member will listen");
  add.option("--authority-key", "FILE", options->authority_key,
             "Signs its certificate (default ca.key beside the configuration)");
  add.option("--days", "D", options->days, "Days its certificate is valid (default 90)");
  add.footer(R"(
On the leader's machine. Writes certificate, key and configuration of the new member beside those of
the leader. The member has no seat, and counts for nothing, before its process has answered the
leader; if the leader fails before that, give the command again.

Examples:
  conclave cluster init demo --n 3 --elastic
  conclave cluster add --config demo/member-0.toml --address 127.0.0.1:7003)");
  add.runs([options] { return add_seat(*options); });
}

struct RenewOptions {
  std::vector<std::string> files;
  std::string authority;
  std::string days = "90";
  bool exchanges = false;
};

// Keys stay where they are: a certificate is renewed for the key that it names.
Exit renew(const RenewOptions& options) {
  const std::filesystem::path first = options.files.front();
  const std::filesystem::path folder =
      options.authority.empty() ? first.parent_path() : std::filesystem::path(options.authority);
  const std::string bundle = (folder / "ca.pem").string();
  const election::Validity validity = election::valid_for(days_option("--days", options.days));
  if (options.exchanges) {
    election::exchange_authority(folder, election::cluster_of(first.string()),
                                 election::valid_for(std::chrono::days(3650)));
    fmt::print("{0} begins with a new authority: copy it to all members, then renew their "
               "certificates; its older ones may go, and ca.key.old, when all are renewed\n",
               bundle);
    return Exit::done;
  }
  election::check_owner(bundle);
  const election::Authority authority{read_text(bundle, std::size_t{1} << 20, Limit::fixed),
                                      election::read_private_file((folder / "ca.key").string())};
  for (const std::string& file : options.files) {
    election::renew_certificate(file, authority, validity);
    fmt::print("{} is valid for {} days: put it on its machine, where the member finds it\n", file,
               options.days);
  }
  return Exit::done;
}

void add_renew(Command& cluster) {
  auto options = std::make_shared<RenewOptions>();
  Command command =
      cluster.subcommand("renew", "Renew certificates of members, or exchange the authority");
  command.words("CERTIFICATE", options->files, "Files member-N.pem, which are replaced");
  command.option("--authority", "DIR", options->authority,
                 "Where ca.pem and ca.key are (default: beside the first certificate)");
  command.option("--days", "D", options->days, "Days they are valid from now (default 90)");
  command.flag("--exchange-authority", options->exchanges,
               "Put a new authority before the old ones in ca.pem instead");
  command.footer(R"(
A running member checks its files every five seconds and takes new certificates over by itself;
connections stay. It warns from thirty days before its certificate or its authority's expires.

Examples:
  conclave cluster renew demo/member-0.pem demo/member-1.pem demo/member-2.pem
  conclave cluster renew demo/member-0.pem --exchange-authority)");
  command.runs([options] { return renew(*options); });
}

struct RemoveOptions {
  std::string config;
  std::string member;
};

Exit remove_seat(const RemoveOptions& options) {
  const election::LeaderClient leader(options.config);
  const std::uint64_t member =
      count_option_64("MEMBER", options.member, 0, election::most_member_numbers - 1);
  leader.remove(static_cast<election::MemberIndex>(member));
  fmt::print("member {} has no seat any more\n", member);
  return Exit::done;
}

void add_remove(Command& cluster) {
  auto options = std::make_shared<RemoveOptions>();
  Command remove = cluster.subcommand("remove", "Remove a member of a running elastic cluster");
  remove.word("MEMBER", options->member, "Its number");
  remove.required_option("--config", "FILE", options->config, "Configuration of the leader");
  remove.footer(R"(
On the leader's machine. A running member that is removed exits with a message.

Examples:
  conclave cluster remove 2 --config demo/member-0.toml)");
  remove.runs([options] { return remove_seat(*options); });
}

struct RepairOptions {
  std::string config;
  std::string term;
  std::string list;      // a state file of another member, whose list is taken
  bool forgets = false;  // the member is to come back as one that has lost its file
  bool vouches = false;  // the file is the newest, and no other process runs
  bool forces = false;   // a majority is lost: a cluster of another identity
  std::string identity;
};

void check_options(const RepairOptions& options, bool is_elastic) {
  if (!is_elastic && !options.list.empty())
    throw Error("--list is for clusters whose list may change: use --term alone");
  const int choices = static_cast<int>(options.forgets) + static_cast<int>(options.vouches) +
                      static_cast<int>(options.forces) + static_cast<int>(!options.term.empty());
  if (choices > 1) throw Error("choose one of --forget, --vouch, --force and --term");
  if (!options.identity.empty() && !options.forces)
    throw Error("--identity goes with --force: the one that the first member was given");
}

std::optional<std::uint64_t> identity_option(const std::string& text) {
  if (text.empty()) return {};
  const std::optional<std::uint64_t> identity = election::parse_identity(text);
  if (!identity)
    throw Error(fmt::format("--identity takes 16 hexadecimal digits, not '{}'", excerpt(text)));
  return identity;
}

// The other members must be given the same identity.
void print_restored(const std::string& report, const std::string& source) {
  fmt::print("{}\n", report);
  const std::string identity = report.substr(report.rfind(' ') + 1);
  fmt::print(
      "now the other members, each on its machine: conclave cluster restore {} --config FILE "
      "--identity {}\n",
      source, identity);
}

Exit repair(const RepairOptions& options) {
  const election::PromiseRepair file(options.config);
  check_options(options, file.is_elastic());
  fmt::print("{}\n", file.diagnosis());
  if (file.record().is_foreign) throw Error("nothing is changed: give the file back to its owner");
  if (options.forgets) {
    fmt::print("{}\n", file.forget());
  } else if (options.vouches) {
    fmt::print("{}\n", file.vouch());
  } else if (options.forces) {
    const std::string source = options.list.empty() ? file.state_file() : options.list;
    print_restored(file.restore(source, identity_option(options.identity)), source);
  } else if (!options.term.empty()) {
    const auto term = count_option_64("--term", options.term, 1, election::most_term);
    fmt::print("{}\n", file.write_anew(term, options.list));
  } else if (!options.list.empty()) {
    throw Error("--list needs --term T, which no member's term must be beyond");
  } else if (!file.record().trouble.empty()) {
    throw Error(file.advice());
  }
  return Exit::done;
}

void add_repair(Command& cluster) {
  auto options = std::make_shared<RepairOptions>();
  Command command = cluster.subcommand("repair", "Diagnose a member's state file, and rewrite it");
  command.required_option("--config", "FILE", options->config, "The member's configuration");
  command.option("--term", "T", options->term,
                 "Write a file that allows no promise in terms up to this one");
  command.flag("--forget", options->forgets,
               "Set the file aside: the next start recovers from other members");
  command.flag("--vouch", options->vouches,
               "The file is the newest of this member, and no other process of it runs");
  command.flag("--force", options->forces,
               "A majority is lost: begin a cluster of another identity with this member's list");
  command.option("--identity", "ID", options->identity,
                 "With --force: the identity that the first member was given");
  command.option("--list", "FILE", options->list,
                 "Elastic clusters: take the list from another member's state file");
  command.footer(R"(
The member must be down. --forget is always safe; --vouch if both of its conditions hold;
--term for all members at once, after all have ended; --force where no majority can come back.

Examples:
  conclave cluster repair --config demo/member-1.toml
  conclave cluster repair --config demo/member-1.toml --term 17
  conclave cluster repair --config lab/member-1.toml --forget
  conclave cluster repair --config lab/member-1.toml --list member-0.state --term 17
  conclave cluster repair --config lab/member-1.toml --vouch
  conclave cluster repair --config lab/member-0.toml --force)");
  command.runs([options] { return repair(*options); });
}

struct BackupOptions {
  std::string config;
  std::string file;
  std::string identity;
};

void add_backup(Command& cluster) {
  auto options = std::make_shared<BackupOptions>();
  Command command = cluster.subcommand("backup", "Copy what a member remembers to a file");
  command.word("FILE", options->file, "The file to write; it must not exist");
  command.required_option("--config", "FILE", options->config, "The member's configuration");
  command.footer(R"(
The member may run. Put back in the place of a state file, the copy is recognized as one.

Examples:
  conclave cluster backup demo.backup --config demo/member-0.toml)");
  command.runs([options] {
    fmt::print("{}\n", election::PromiseRepair(options->config).back_up(options->file));
    return Exit::done;
  });
}

void add_restore(Command& cluster) {
  auto options = std::make_shared<BackupOptions>();
  Command command =
      cluster.subcommand("restore", "Begin a new cluster from a backup of a lost one");
  command.word("FILE", options->file, "A backup, or a state file, of any member");
  command.required_option("--config", "FILE", options->config, "The member's configuration");
  command.option("--identity", "ID", options->identity,
                 "The identity that the first member was given (default: a new one)");
  command.footer(R"(
For each member, after all have ended: the first without --identity, the others with what it prints.
Members with the old identity are refused from then on, and terms begin 2^32 beyond the backup.

Examples:
  conclave cluster restore demo.backup --config demo/member-0.toml
  conclave cluster restore demo.backup --config demo/member-1.toml --identity 77aa01f2c3d4e5f6)");
  command.runs([options] {
    const election::PromiseRepair file(options->config);
    print_restored(file.restore(options->file, identity_option(options->identity)), options->file);
    return Exit::done;
  });
}

}  // namespace

void add_cluster_members(Command& cluster) {
  add_init(cluster);
  add_add(cluster);
  add_remove(cluster);
  add_renew(cluster);
  add_repair(cluster);
  add_backup(cluster);
  add_restore(cluster);
}

}  // namespace conclave::cli
