// What Weir knows of a file and ADIOS2 cannot say: the order of variables, which are stepped, arrays without
// elements, slots that are not whole, attributes that ADIOS2 has no type for. Kept as JSON in attributes of
// the file that Weir hides when reading; every other program may ignore them.
#pragma once

#include <set>

#include "backends/adios2_library.hpp"

namespace weir::backends::bp {

struct Notes {
  // An attribute that is not stored as it is: an empty one (nothing is stored), a text with zero bytes
  // (stored as uint8), complex numbers where there is no such attribute (stored as pairs).
  struct Disguise {
    std::string full_name;
    std::string type;  // "text", or the name of the element type
    bool stored = false;
  };

  using SlotOf = std::pair<std::string, std::uint64_t>;  // a variable and its slot

  std::vector<Variable> variables;  // with the number of slots
  std::set<SlotOf> with_gaps;       // elements that nobody wrote
  std::set<SlotOf> unwritten;       // nobody wrote anything: ADIOS2 may not know of this slot
  std::vector<Disguise> disguises;
};

// Defines the attributes, and the notes with what had to be disguised, in the IO. COLLECTIVE.
void store_attributes(Format format, adios2::IO& io, const std::vector<Attribute>& attributes, Notes notes);

// The notes of a file that Weir wrote; nullopt: some other program wrote it.
Result<std::optional<Notes>> load_notes(adios2::IO& io);

// All attributes but the notes, undisguised. An attribute belongs to the variable with the longest name that
// begins its own.
std::vector<Attribute> load_attributes(adios2::IO& io, const Notes& notes,
                                       const std::vector<Variable>& variables);

}  // namespace weir::backends::bp
