#include "election/note.hpp"

#include <numeric>
#include <utility>

#include "election/detail/wire.hpp"

namespace conclave::election {
namespace {

using detail::Like;
using detail::Reader;
using detail::Writer;

constexpr std::array<std::string_view, note_kinds> own_names{
    "",        "renewal",  "seconded", "granted", "refused",       "standing", "probe",   "alive",
    "prepare", "prepared", "resigned", "recall",  "configuration", "recover",  "recorded"};

constexpr std::uint8_t stamped = 0x80;  // a stamp follows
constexpr std::uint8_t tabled = 0x40;   // a fingerprint follows, after the stamp if there is one
static_assert(note_kinds + paper_kinds <= tabled);

// The first byte tells the kind; messages of the paper have their own kinds there, after ours.
std::uint8_t tag_of(const Note& note) {
  const auto own = static_cast<std::uint8_t>(note.kind);
  if (note.kind != NoteKind::algorithm) return own;
  return static_cast<std::uint8_t>(note_kinds + static_cast<std::uint8_t>(note.message.kind));
}

bool set_kind(Note& note, std::uint8_t tag) {
  if (tag == 0 || tag >= note_kinds + paper_kinds) return false;
  if (tag < note_kinds) {
    note.kind = static_cast<NoteKind>(tag);
    return true;
  }
  note.kind = NoteKind::algorithm;
  note.message.kind = static_cast<Algorithm::Kind>(tag - note_kinds);
  return true;
}

// The fields in their order on the wire; a Writer takes them, a Reader sets them.
void fields(auto& codec, Like<Stamp> auto& stamp) {
  codec.number(stamp.term);
  codec.number(stamp.version);
  codec.number(stamp.list);
}

void fields(auto& codec, Like<Seat> auto& seat) {
  codec.number(seat.member);
  codec.number(seat.endpoint.port);
  codec.text(seat.endpoint.host);
}

void fields(Writer& writer, const std::vector<Seat>& seats) {
  for (const Seat& seat : seats) fields(writer, seat);
}

// Seats come in the order of their numbers, each once; otherwise the note is malformed.
void fields(Reader& reader, std::vector<Seat>& seats) {
  while (reader.has_more()) {
    Seat seat;
    fields(reader, seat);
    const bool is_next = seats.empty() || seats.back().member < seat.member;
    if (!is_next || seat.member >= most_member_numbers || !is_plain_host(seat.endpoint.host))
      return reader.refuse();
    seats.push_back(std::move(seat));
  }
}

void fields(Writer& writer, const IncarnationTable& table) {
  for (const auto& [member, incarnation] : table.entries()) {
    writer.number(member);
    writer.number(incarnation.number);
    writer.number(incarnation.bits);
  }
}

// In the order of the members, each once, and none that is 0 0: there is one way to write a table.
void fields(Reader& reader, IncarnationTable& table) {
  while (reader.has_more()) {
    MemberIndex member = 0;
    Incarnation incarnation;
    reader.number(member);
    reader.number(incarnation.number);
    reader.number(incarnation.bits);
    const auto& entries = table.entries();
    const bool is_next = entries.empty() || entries.rbegin()->first < member;
    if (!is_next || member >= most_member_numbers || entries.size() == most_entries ||
        !table.raise(member, incarnation))
      return reader.refuse();
  }
}

void fields(auto& codec, Like<Note> auto& note) {
  switch (note.kind) {
    case NoteKind::algorithm:
      codec.number(note.message.phase);
      codec.number(note.message.id);
      return codec.number(note.message.rank);
    case NoteKind::renewal:
      codec.number(note.stamp);
      return codec.flag(note.holds);
    case NoteKind::seconded:
    case NoteKind::granted:
      codec.number(note.stamp);
      return codec.number(note.promise_ms);
    case NoteKind::standing:
      return codec.number(note.leader);
    case NoteKind::prepared:
    case NoteKind::recall:
      return codec.number(note.stamp);
    case NoteKind::resigned:
      codec.number(note.stamp);
      codec.number(note.leader);
      return codec.number(note.next);
    case NoteKind::refused:
      return codec.number(note.next);
    case NoteKind::configuration:
      codec.number(note.stamp);
      codec.number(note.next);
      codec.flag(note.holds);
      return fields(codec, note.seats);
    case NoteKind::recover:
      return fields(codec, note.entries);
    case NoteKind::recorded:
      codec.number(note.next);
      codec.flag(note.holds);
      return fields(codec, note.entries);
    case NoteKind::probe:
    case NoteKind::alive:
    case NoteKind::prepare:
      return;
  }
}

}  // namespace

std::size_t count_index(const Note& note) {
  return note.kind == NoteKind::algorithm ? static_cast<std::size_t>(note.message.kind)
                                          : paper_kinds + static_cast<std::size_t>(note.kind);
}

std::string_view count_name(std::size_t index) {
  return index < paper_kinds ? Algorithm::kinds[index] : own_names[index - paper_kinds];
}

std::uint64_t paper_messages(const NoteCounts& counts) {
  return std::accumulate(counts.begin(), counts.begin() + paper_kinds, std::uint64_t{0});
}

std::uint64_t other_messages(const NoteCounts& counts) {
  return std::accumulate(counts.begin() + paper_kinds, counts.end(), std::uint64_t{0});
}

std::vector<std::byte> encode(const Note& note) {
  std::vector<std::byte> bytes;
  Writer writer(bytes);
  const bool has_stamp = note.configuration != Stamp{};
  const bool has_table = note.table != 0;
  writer.number(static_cast<std::uint8_t>(tag_of(note) | (has_stamp ? stamped : 0) |
                                          (has_table ? tabled : 0)));
  writer.number(note.term);
  if (has_stamp) fields(writer, note.configuration);
  if (has_table) writer.number(note.table);
  fields(writer, note);
  return bytes;
}

std::optional<Note> decode_note(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Note note;
  std::uint8_t tag = 0;
  reader.number(tag);
  if (!set_kind(note, static_cast<std::uint8_t>(tag & ~(stamped | tabled)))) return std::nullopt;
  reader.number(note.term);
  const bool has_stamp = (tag & stamped) != 0;
  if (has_stamp) fields(reader, note.configuration);
  if (has_stamp && note.configuration == Stamp{}) return std::nullopt;
  const bool has_table = (tag & tabled) != 0;
  if (has_table) reader.number(note.table);
  if (has_table && note.table == 0) return std::nullopt;
  fields(reader, note);
  if (!reader.is_done()) return std::nullopt;
  return note;
}

}  // namespace conclave::election
