// sample_page FOLDER: pages of made-up runs, for the test in a browser.
#include <fmt/format.h>

#include "core/file.hpp"
#include "sample_document.hpp"

int main(int argc, char** argv) {
  using namespace weir;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  for (const auto& [name, document] : {std::pair{"one.html", report::test::one_run()},
                                       std::pair{"several.html", report::test::several_runs()}}) {
    const auto page = report::render_html(document);
    if (!page || !write_text_atomically(folder / name, *page)) return 1;
  }
  fmt::print("{}\n", report::html_is_interactive() ? "interactive" : "pictures");
  return 0;
}
