#include "session/summary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "core/file.hpp"
#include "core/json.hpp"

namespace weir::session {

Status append_summary(const Summary& summary, const std::string& path) {
  const Json json = {{"files", summary.files},
                     {"writes", summary.writes},
                     {"bytes", summary.bytes},
                     {"stored_bytes", summary.stored_bytes},
                     {"visible_seconds", summary.visible_seconds()},
                     {"storing_seconds", summary.storing_seconds},
                     {"sending_seconds", summary.sending_seconds},
                     {"waiting_seconds", summary.waiting_seconds},
                     {"closing_seconds", summary.closing_seconds},
                     {"peak_memory", summary.peak_memory},
                     {"transport_bytes", summary.transport_bytes},
                     {"transport_seconds", summary.transport_seconds}};
  const std::string line = json.dump() + "\n";
  WEIR_ASSIGN(Descriptor file, open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC));
  // In one call: lines of several programs do not mix.
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return fail_errno(errno, "append the session's summary", path);
  return file.close(path);
}

}  // namespace weir::session
