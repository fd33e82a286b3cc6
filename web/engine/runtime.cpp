// The part of the C++ runtime that Debian's libraries for wasm32 leave out: exceptions, and two
// symbols of the stack protector that its compiler's library was built with.
//
// The compiler turns `throw` into __cxa_throw and catches with instructions of WebAssembly. What is
// left to do here: keep the thrown object, and tell a landing pad whether its clause is for the
// type that was thrown, which the tables of the Itanium ABI describe. The alternative, ending the
// module at every throw, is not enough: the reader of protocol texts catches mistakes, adds their
// place and throws again. Types match if they are equal or derive from each other without multiple
// inheritance, which is all that we throw.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <typeinfo>

namespace {

// Stands before every thrown object.
struct Header {
  const std::type_info* type;
  void* (*destroy)(void*);  // destructors return their object here
  int handlers;             // that are at work; negative while it is being thrown again
  Header* next;             // caught before it
};
constexpr std::size_t room = 16;
static_assert(sizeof(Header) <= room);

Header* caught = nullptr;  // the last one

Header* header_of(void* thrown) {
  return reinterpret_cast<Header*>(static_cast<char*>(thrown) - room);
}
void* object_of(Header* header) { return reinterpret_cast<char*>(header) + room; }

bool is_a(const std::type_info* type, const std::type_info* wanted) {
  if (*type == *wanted) return true;
  constexpr std::string_view single = "N10__cxxabiv120__si_class_type_infoE";
  if (typeid(*type).name() != single) return false;
  struct SingleBase {
    void* table;
    const char* name;
    const std::type_info* base;
  };
  return is_a(reinterpret_cast<const SingleBase*>(type)->base, wanted);
}

// Reads numbers of variable length, as DWARF has them.
class Reader {
 public:
  explicit Reader(const std::uint8_t* place) : place_(place) {}

  const std::uint8_t* place() const { return place_; }
  std::uint8_t byte() { return *place_++; }
  std::uint32_t number() {
    std::uint32_t value = 0;
    unsigned shift = 0;
    std::uint8_t next = 0;
    do {
      next = byte();
      value |= static_cast<std::uint32_t>(next & 0x7f) << shift;
      shift += 7;
    } while ((next & 0x80) != 0);
    is_negative_ = (next & 0x40) != 0;
    bits_ = shift;
    return value;
  }
  std::int32_t signed_number() {
    std::uint32_t value = number();
    if (is_negative_ && bits_ < 32) value |= ~std::uint32_t{0} << bits_;
    return static_cast<std::int32_t>(value);
  }

 private:
  const std::uint8_t* place_;
  bool is_negative_ = false;
  unsigned bits_ = 0;
};

// The clause among a landing pad's actions that is for this type; 0 if none is.
int clause_for(const std::type_info* type, const std::uint8_t* action, const std::uint8_t* types) {
  for (;;) {
    Reader record(action);
    const std::int32_t clause = record.signed_number();
    const std::uint8_t* const here = record.place();
    const std::int32_t next = record.signed_number();
    if (clause > 0) {
      const std::type_info* wanted = nullptr;
      std::memcpy(&wanted, types - clause * static_cast<int>(sizeof wanted), sizeof wanted);
      if (wanted == nullptr || is_a(type, wanted)) return clause;
    }
    if (next == 0) return 0;
    action = here + next;
  }
}

}  // namespace

extern "C" {

// Filled in by the landing pad, but for the clause.
struct LandingPad {
  std::uint32_t index;
  const std::uint8_t* table;
  std::int32_t clause;
} __wasm_lpad_context;

int _Unwind_CallPersonality(void* thrown) {
  constexpr std::uint8_t left_out = 0xff;
  __wasm_lpad_context.clause = 0;
  Reader table(__wasm_lpad_context.table);
  if (table.byte() != left_out) std::abort();  // where landing pads begin
  const std::uint8_t* types = nullptr;
  if (table.byte() != left_out) {
    const std::uint32_t length = table.number();
    types = table.place() + length;
  }
  table.byte();  // how call sites are written: as numbers of variable length
  const std::uint32_t length = table.number();
  const std::uint8_t* const actions = table.place() + length;
  std::uint32_t action = 0;
  for (std::uint32_t i = 0; i <= __wasm_lpad_context.index; ++i) {
    table.number();
    action = table.number();
  }
  if (action == 0) return 0;
  __wasm_lpad_context.clause = clause_for(header_of(thrown)->type, actions + (action - 1), types);
  return 0;
}

void* __cxa_allocate_exception(std::size_t size) {
  char* const place = static_cast<char*>(std::malloc(size + room));
  if (place == nullptr) std::abort();
  return place + room;
}

void __cxa_free_exception(void* thrown) { std::free(header_of(thrown)); }

[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void* (*destroy)(void*)) {
  *header_of(thrown) = {type, destroy, 0, nullptr};
  __builtin_wasm_throw(0, thrown);
}

void* __cxa_begin_catch(void* thrown) {
  Header* const header = header_of(thrown);
  header->handlers = std::abs(header->handlers) + 1;
  if (caught != header) {
    header->next = caught;
    caught = header;
  }
  return thrown;
}

void __cxa_end_catch() {
  Header* const header = caught;
  if (header == nullptr) return;
  if (header->handlers < 0) {  // it is on its way again
    if (++header->handlers == 0) caught = header->next;
    return;
  }
  if (--header->handlers > 0) return;
  caught = header->next;
  if (header->destroy != nullptr) header->destroy(object_of(header));
  std::free(header);
}

void* __cxa_get_exception_ptr(void* thrown) { return thrown; }

[[noreturn]] void __cxa_rethrow() {
  if (caught == nullptr) std::abort();
  caught->handlers = -caught->handlers;
  __builtin_wasm_throw(0, object_of(caught));
}

std::uintptr_t __stack_chk_guard = 0;
[[noreturn]] void __stack_chk_fail() { std::abort(); }

}  // extern "C"
