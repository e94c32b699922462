#include "sim/debugger/Channel.h"
#include "runtime/Environment.h"
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tiletwin::sim::debugger {

Channel::Channel(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < sizeof address.sun_path) {
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    file_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file_ >= 0 && connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  }
  close();
  throw environment::Error("TILETWIN_DEBUG=" + path +
                           ": no debugger listens there; start the program with `tiletwin debug`, or unset the "
                           "variable");
}

Channel::~Channel() { close(); }

void Channel::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

bool Channel::send(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (size_t sent = 0; file_ >= 0 && sent < text.size();) {
    const ssize_t n = ::send(file_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n > 0)
      sent += size_t(n);
    else if (errno != EINTR)
      close();
  }
  return isOpen();
}

bool Channel::receive(Request& request) {
  size_t end;
  while ((end = input_.find('\n')) == std::string::npos) {
    char buffer[4096];
    if (file_ < 0) return false;
    const ssize_t n = recv(file_, buffer, sizeof buffer, 0);
    if (n > 0)
      input_.append(buffer, size_t(n));
    else if (n == 0 || errno != EINTR)
      close();
  }
  request.words.clear();
  std::string_view line = std::string_view(input_).substr(0, end);
  for (size_t tab; (tab = line.find('\t')) != std::string_view::npos; line.remove_prefix(tab + 1))
    request.words.emplace_back(line.substr(0, tab));
  request.words.emplace_back(line);
  input_.erase(0, end + 1);
  return true;
}

bool Channel::hasInput() {
  if (!input_.empty()) return true;
  pollfd wanted{file_, POLLIN, 0};
  return file_ >= 0 && poll(&wanted, 1, 0) > 0;
}

} // namespace tiletwin::sim::debugger
