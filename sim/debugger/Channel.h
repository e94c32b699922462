// sim/debugger/Channel.h -- lines to and from the debugger's face, over a local socket.
//
// Here:      Channel, and Request: the words of a line.
// Not here:  what requests mean (Requests.cpp), how answers are written (Json.h).
// Idea:      the face sends lines of words with tabs between them; the engine answers each with one line of JSON, and tells of what
//            happens by lines of JSON that hold "event".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::sim::debugger {

/// A line's words; the first one is what is asked for.
struct Request {
  std::vector<std::string> words;
  std::string_view verb() const { return words.empty() ? std::string_view() : words[0]; }
  /// Word `i` behind the verb; empty if there is none.
  std::string_view argument(size_t i) const { return i + 1 < words.size() ? words[i + 1] : std::string_view(); }
};

class Channel {
public:
  /// Throws environment::Error if nobody listens at `path`.
  explicit Channel(const std::string& path);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// False: the other side is gone. So it is for ever then.
  bool send(std::string_view line);
  /// Waits for a line. False: the other side is gone.
  bool receive(Request& request);
  /// Is there a line, or part of one? Does not wait.
  bool hasInput();
  bool isOpen() const { return file_ >= 0; }
  /// The other side has said that it goes.
  void letGo() { isLetGo_ = true; }
  bool isLetGo() const { return isLetGo_; }

private:
  void close();

  int file_ = -1;
  bool isLetGo_ = false;
  std::string input_; ///< received, not yet a line
};

} // namespace tiletwin::sim::debugger
