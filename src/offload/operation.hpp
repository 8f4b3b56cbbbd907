// One request of a compute rank about a file, as a value: what it says to whoever writes the files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/json.hpp"
#include "files/output_file.hpp"
#include "offload/progress.hpp"

namespace weir::offload {

struct Operation {
  enum class Kind : std::uint8_t { create, write, reserve, attribute, close, map, unmap, stop };

  Kind kind = Kind::write;
  std::uint64_t file = 0;  // a number that the compute rank gave it; the same on all of them

  std::string path;              // of the file; the letter has it with create only
  files::CreateOptions options;  // create
  files::Heading heading;        // write, reserve
  Box box;                       // write
  bool independent = false;      // write: this rank only
  Reduction reduce;              // write: what is stored of it
  backends::Attribute attribute;
  std::optional<Failure> unseen;  // this rank refuses; close: the file is not published
  bool later = false;             // close: the program does not know what has failed; nothing may have
  bool gave_up = false;           // close: `unseen` says no more than that this rank gave the file up
  std::uint64_t region = 0;       // map, unmap; write: the region that holds the data, 0: none
  std::uint64_t place = 0;        // write from a region: where in it
  std::int64_t process = 0;       // map: how to find it
  std::int64_t descriptor = -1;
  std::uint64_t bytes = 0;   // map: of the region; write: of the data
  std::uint64_t pieces = 0;  // write: how many will follow; 0: the data lies in a region, or there is none
  bool cold = false;         // write: whoever reads the data had better evict it

  // Not part of the letter.
  const std::byte* data = nullptr;
  std::shared_ptr<Progress> progress;

  bool collective() const { return kind < Kind::map ? !independent : kind == Kind::stop; }
  bool has_data() const { return kind == Kind::write && !unseen && !box.count.empty() && !box.empty(); }
};

std::string pack(const Json& json);  // for a message

// What a rank says that leaves the session without ending it, perhaps in the middle of an operation's pieces.
Operation leaving(int rank);

std::string to_letter(const Operation& operation);
Operation from_letter(const Json& letter);

// The parts in which the block of a write moves, where there is so much room: one, unless it takes more than
// half of it.
std::vector<Box> cut(const Operation& write, std::uint64_t room);

// A piece of the data of the newest operation has arrived in the mailbox.
struct Piece {
  Box box;
  std::uint64_t place = 0;
  std::uint64_t end = 0;    // to be given back
  std::uint64_t bytes = 0;  // where they follow by message
};
std::string to_letter(const Piece& piece);
Piece piece_from_letter(const Json& letter);
bool is_piece(const Json& letter);

Json to_json(const Failure& failure);
Failure failure_from_json(const Json& json);

// "write variable 'T', step 3": what it does to its file, in a few words.
std::string brief(const Operation& operation);

// A text that is the same for all ranks that make the same collective request, and says it to a person who
// knows the file by `name`.
std::string describe(const Operation& operation, const std::string& name);

}  // namespace weir::offload
