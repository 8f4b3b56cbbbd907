// Which names variables and attributes may have: those that every format can store and every tool can show.
#pragma once

#include <string>

#include "core/error.hpp"

namespace weir::files {

Status check_name(const std::string& name);            // of a variable; '/' separates groups
Status check_text(const std::string& text);            // of an attribute
Status check_attribute_name(const std::string& name);  // without '/'

}  // namespace weir::files
