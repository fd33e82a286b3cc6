// A node's effects go into the sink; `on` returns nothing.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave {

struct Echo {
  enum class Kind : std::uint8_t { word };
  static constexpr std::array<std::string_view, 1> kinds{"WORD"};
  static constexpr ProtocolInfo info{};

  struct Message {
    Kind kind = Kind::word;
    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}};
  };
  struct Node {
    bool awake = false;
    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"awake", &Node::awake}};
  };
  using Parameters = NoParameters;

  static std::string objection(const Parameters&, NodeCount) { return {}; }
  Echo(const Parameters&, NodeCount) {}
  Node asleep(Identifier) const { return {}; }
  NodeView view(const Node&) const { return {}; }
  std::uint32_t bits(const Message&) const { return 1; }

  void on(Node& node, WakeUp, auto&, Choice auto&) const { node.awake = true; }
#ifdef CONCLAVE_MISTAKE
  Message on(Node&, const Received<Message>& event, auto&, Choice auto&) const {
    return event.message;
  }
#else
  void on(Node&, const Received<Message>& event, auto& effects, Choice auto&) const {
    effects.send(event.port, event.message);
  }
#endif
};
static_assert(AsynchronousProtocol<Echo>);

}  // namespace conclave
