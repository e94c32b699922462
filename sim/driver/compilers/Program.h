// sim/driver/compilers/Program.h -- what the virtual GPU's compilers have in common: NVIDIA's program, run; files.
#pragma once
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

extern char** environ; // NOLINT(readability-redundant-declaration): not every header has it

namespace tiletwin::compilers {

using Words = std::vector<std::string>;

inline bool readFile(const std::filesystem::path& path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  content.assign(std::istreambuf_iterator<char>(file), {});
  return !file.bad();
}

inline bool writeFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  return bool(out);
}

/// The exit status of a program; that of a shell where a signal ended it. Below 0: it cannot be run, and errno says why.
inline int run(const std::string& program, Words words) {
  std::vector<char*> arguments{const_cast<char*>(program.c_str())}; // NOLINT: it is read
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ)) {
    errno = error;
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace tiletwin::compilers
