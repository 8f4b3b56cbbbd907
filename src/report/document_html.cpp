// The page: its frame, style and script are files of their own under page/, built in; the data goes in as
// JSON that no text in it can leave.
#include <string_view>

#include "report/assets.hpp"
#include "report/document.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

// "</script>" and "<!--" inside a text would end the element that holds the data: no "<" appears at all.
std::string harmless_json(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') {
      result += "\\u003c";
    } else if (text.compare(i, 3, "\xe2\x80\xa8") == 0 || text.compare(i, 3, "\xe2\x80\xa9") == 0) {
      result += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Puts a text in place of each marker "@NAME@", in one pass: what is put in is not searched.
class Filler {
 public:
  void set(std::string_view name, std::string text) { parts_.emplace_back(name, std::move(text)); }
  std::string fill(std::string_view frame) const {
    std::string result;
    while (!frame.empty()) {
      const std::size_t at = frame.find('@');
      result += frame.substr(0, at);
      if (at == std::string_view::npos) break;
      frame.remove_prefix(at);
      bool known = false;
      for (const auto& [name, text] : parts_) {
        const std::string marker = "@" + std::string(name) + "@";
        if (!frame.starts_with(marker)) continue;
        result += text;
        frame.remove_prefix(marker.size());
        known = true;
        break;
      }
      if (!known) result += '@', frame.remove_prefix(1);
    }
    return result;
  }

 private:
  std::vector<std::pair<std::string_view, std::string>> parts_;
};

}  // namespace

bool html_is_interactive() {
  return !assets::echarts().empty();
}

Result<std::string> render_html(const Document& document) {
  const auto made = [&]() -> Result<std::string> {
    Filler filler;
    filler.set("TITLE", escaped_markup(clean(document.title)));
    filler.set("STYLE", std::string(assets::page_style()));
    filler.set("ECHARTS", std::string(assets::echarts()));
    filler.set("SCRIPT", std::string(assets::page_script()));
    filler.set("SUMMARY", escaped_markup(render_summary(document, {.width = 80})));
    filler.set("DATA",
               harmless_json(to_json(document, {.compact = true, .pictures = !html_is_interactive()})));
    return filler.fill(assets::page_frame());
  };
  return in(guarded(made), "make the page");
}

}  // namespace weir::report
