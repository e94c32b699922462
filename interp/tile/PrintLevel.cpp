// interp/tile/PrintLevel.cpp -- a program for the build: prints which tile module this CPU opens ("v3"), or, with exit code 1,
// why there is none for it.
#include "interp/tile/Load.h"
#include <cstdio>

int main() {
  std::string error;
  const char* level = tiletwin::tileLevel(&error);
  std::fputs(level ? level : error.c_str(), stdout);
  return level ? 0 : 1;
}
