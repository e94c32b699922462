// tests/tile/Main.cpp -- the test runner, and the loader's messages.
#define BOOST_TEST_MODULE tile
#include "tests/tile/TileTest.h"
#include <cstdlib>

using namespace tiletwin;

BOOST_AUTO_TEST_CASE(loader_names_what_is_wrong) {
  std::string error;
  BOOST_TEST(!loadTileOps("/nonexistent", &error));
  BOOST_TEST(error.find("cannot open the tile operations /nonexistent/tiletwin_tile_") == 0, error);
  const char* old = std::getenv("TILETWIN_ISA");
  const std::string saved = old ? old : "";
  setenv("TILETWIN_ISA", "v9", 1);
  BOOST_TEST(!loadTileOps(TILETWIN_TILE_DIR, &error));
  BOOST_TEST(error == "TILETWIN_ISA must be v3 or v4, got \"v9\"; unset it to let tiletwin choose", error);
  if (old)
    setenv("TILETWIN_ISA", saved.c_str(), 1);
  else
    unsetenv("TILETWIN_ISA");
}

BOOST_AUTO_TEST_CASE(a_module_of_another_build_is_not_called) {
  std::string error;
  BOOST_TEST(!loadTileOps(TILETWIN_STALE_TILE_DIR, &error));
  BOOST_TEST(error.find(" was built for another version of tiletwin") != std::string::npos, error);
}
