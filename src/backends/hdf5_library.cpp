#include "backends/hdf5_library.hpp"
#include "core/file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

namespace weir::backends::hdf5 {

namespace {

herr_t collect_message(unsigned, const H5E_error2_t* error, void* messages) noexcept {
  try {
    if (error->desc != nullptr) static_cast<std::vector<std::string>*>(messages)->emplace_back(error->desc);
    return 0;
  } catch (...) {
    return -1;
  }
}

// Innermost first.
std::vector<std::string> messages_on_stack() {
  std::vector<std::string> messages;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect_message, &messages);
  H5Eclear2(H5E_DEFAULT);
  std::erase_if(messages, [](const std::string& text) { return text.empty(); });
  return messages;
}

std::optional<int> number_after(std::string_view text, std::string_view label) {
  const auto at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + at + label.size(), text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

// The system error a message speaks of: in numbers (the POSIX driver), or as an MPI error class in words.
std::optional<int> system_error(const std::string& message) {
  struct Word {
    std::string_view name;
    int error;
  };
  static constexpr std::array<Word, 9> words = {{{"MPI_ERR_NO_SPACE", ENOSPC},
                                                 {"No space left", ENOSPC},
                                                 {"MPI_ERR_QUOTA", EDQUOT},
                                                 {"quota exceeded", EDQUOT},
                                                 {"MPI_ERR_NO_SUCH_FILE", ENOENT},
                                                 {"MPI_ERR_ACCESS", EACCES},
                                                 {"MPI_ERR_READ_ONLY", EROFS},
                                                 {"MPI_ERR_BAD_FILE", EINVAL},
                                                 {"MPI_ERR_NO_MEM", ENOMEM}}};
  if (const auto number = number_after(message, "errno = "); number && *number > 0) return number;
  for (const Word& word : words) {
    if (message.find(word.name) != std::string::npos) return word.error;
  }
  return std::nullopt;
}

}  // namespace

Quiet::Quiet() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

tl::unexpected<Failure> library_failure(ErrorCode otherwise) {
  const std::vector<std::string> messages = messages_on_stack();
  for (const std::string& message : messages) {
    if (const auto error = system_error(message)) return fail_errno(*error, {}, {});
  }
  if (messages.empty()) return fail(otherwise, "HDF5 failed without a message");
  const std::string& innermost = messages.front();
  if (innermost.find("required filter") != std::string::npos) {
    return fail(ErrorCode::unsupported, innermost,
                "install the filter and name its folder in HDF5_PLUGIN_PATH");
  }
  // The innermost message is the most precise one, the outermost says what HDF5 was about to do.
  if (messages.size() == 1) return fail(otherwise, innermost);
  return fail(otherwise, fmt::format("{} ({})", innermost, messages.back()));
}

tl::unexpected<Failure> write_failure(const std::filesystem::path& path) {
  auto failure = library_failure(ErrorCode::io);
  constexpr std::uint64_t enough = 64U << 10U;
  if (failure.value().advice.empty() && free_space(path) < enough) return fail_errno(ENOSPC, {}, {});
  return failure;
}

}  // namespace weir::backends::hdf5
