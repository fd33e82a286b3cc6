#include "election/note.hpp"

#include <numeric>
#include <string>
#include <utility>

namespace conclave::election {
namespace {

constexpr std::array<std::string_view, note_kinds> own_names{
    "",      "renewal", "seconded", "granted",  "refused", "standing",     "probe",
    "alive", "prepare", "prepared", "resigned", "recall",  "configuration"};

class Writer {
 public:
  template <class T>
  void number(T value) {
    for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<std::byte>(value >> shift & 0xff));
    }
  }
  void text(std::string_view text) {
    number(static_cast<std::uint8_t>(text.size()));
    for (const char each : text) bytes_.push_back(static_cast<std::byte>(each));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    if (rest_.size() < sizeof(T)) {
      is_short_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(rest_[i]);
    }
    rest_ = rest_.subspan(sizeof(T));
    return static_cast<T>(value);
  }
  std::string text() {
    const auto size = number<std::uint8_t>();
    std::string result;
    for (std::size_t i = 0; i < size && !is_short_; ++i) result += number<char>();
    return result;
  }
  bool has_more() const { return !is_short_ && !rest_.empty(); }
  bool is_exhausted() const { return !is_short_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool is_short_ = false;
};

constexpr std::uint8_t stamped = 0x80;  // a stamp follows

// The first byte tells the kind; messages of the paper have their own kinds there, after ours.
std::uint8_t tag_of(const Note& note) {
  const auto own = static_cast<std::uint8_t>(note.kind);
  if (note.kind != NoteKind::algorithm) return own;
  return static_cast<std::uint8_t>(note_kinds + static_cast<std::uint8_t>(note.message.kind));
}

void put_seats(Writer& writer, const std::vector<Seat>& seats) {
  for (const Seat& seat : seats) {
    writer.number(seat.member);
    writer.number(seat.endpoint.port);
    writer.text(seat.endpoint.host);
  }
}

// Seats come in the order of their numbers, each once; otherwise the note is malformed.
bool set_seats(Reader& reader, std::vector<Seat>& seats) {
  while (reader.has_more()) {
    Seat seat;
    seat.member = reader.number<MemberIndex>();
    seat.endpoint.port = reader.number<std::uint16_t>();
    seat.endpoint.host = reader.text();
    const bool is_next = seats.empty() || seats.back().member < seat.member;
    if (!is_next || seat.member >= most_member_numbers || !is_plain_host(seat.endpoint.host))
      return false;
    seats.push_back(std::move(seat));
  }
  return true;
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
  Writer writer;
  const bool has_stamp = note.configuration != Stamp{};
  writer.number(static_cast<std::uint8_t>(tag_of(note) | (has_stamp ? stamped : 0)));
  writer.number(note.term);
  if (has_stamp) {
    writer.number(note.configuration.term);
    writer.number(note.configuration.version);
    writer.number(note.configuration.list);
  }
  switch (note.kind) {
    case NoteKind::algorithm:
      writer.number(note.message.phase);
      writer.number(note.message.id);
      writer.number(note.message.rank);
      break;
    case NoteKind::renewal:
      writer.number(note.stamp);
      writer.number(static_cast<std::uint8_t>(note.holds ? 1 : 0));
      break;
    case NoteKind::seconded:
    case NoteKind::granted:
      writer.number(note.stamp);
      writer.number(note.promise_ms);
      break;
    case NoteKind::standing:
      writer.number(note.leader);
      break;
    case NoteKind::prepared:
      writer.number(note.stamp);
      break;
    case NoteKind::resigned:
      writer.number(note.stamp);
      writer.number(note.leader);
      writer.number(note.next);
      break;
    case NoteKind::refused:
      writer.number(note.next);
      break;
    case NoteKind::recall:
      writer.number(note.stamp);
      break;
    case NoteKind::configuration:
      writer.number(note.stamp);
      writer.number(note.next);
      writer.number(static_cast<std::uint8_t>(note.holds ? 1 : 0));
      put_seats(writer, note.seats);
      break;
    case NoteKind::probe:
    case NoteKind::alive:
    case NoteKind::prepare:
      break;
  }
  return writer.take();
}

std::optional<Note> decode_note(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Note note;
  const auto tag = reader.number<std::uint8_t>();
  if (!set_kind(note, static_cast<std::uint8_t>(tag & ~stamped))) return std::nullopt;
  note.term = reader.number<Term>();
  if ((tag & stamped) != 0) {
    note.configuration.term = reader.number<Term>();
    note.configuration.version = reader.number<std::uint64_t>();
    note.configuration.list = reader.number<std::uint64_t>();
    if (note.configuration == Stamp{}) return std::nullopt;
  }
  std::uint8_t flag = 0;
  switch (note.kind) {
    case NoteKind::algorithm:
      note.message.phase = reader.number<std::uint8_t>();
      note.message.id = reader.number<Identifier>();
      note.message.rank = reader.number<std::uint64_t>();
      break;
    case NoteKind::renewal:
      note.stamp = reader.number<std::uint64_t>();
      flag = reader.number<std::uint8_t>();
      note.holds = flag == 1;
      break;
    case NoteKind::seconded:
    case NoteKind::granted:
      note.stamp = reader.number<std::uint64_t>();
      note.promise_ms = reader.number<std::uint32_t>();
      break;
    case NoteKind::standing:
      note.leader = reader.number<MemberIndex>();
      break;
    case NoteKind::prepared:
      note.stamp = reader.number<std::uint64_t>();
      break;
    case NoteKind::resigned:
      note.stamp = reader.number<std::uint64_t>();
      note.leader = reader.number<MemberIndex>();
      note.next = reader.number<Term>();
      break;
    case NoteKind::refused:
      note.next = reader.number<Term>();
      break;
    case NoteKind::recall:
      note.stamp = reader.number<std::uint64_t>();
      break;
    case NoteKind::configuration:
      note.stamp = reader.number<std::uint64_t>();
      note.next = reader.number<Term>();
      flag = reader.number<std::uint8_t>();
      note.holds = flag == 1;
      if (!set_seats(reader, note.seats)) return std::nullopt;
      break;
    case NoteKind::probe:
    case NoteKind::alive:
    case NoteKind::prepare:
      break;
  }
  if (!reader.is_exhausted() || flag > 1) return std::nullopt;
  return note;
}

}  // namespace conclave::election
