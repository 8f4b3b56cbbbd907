// The "node_types" part of platform_json.hpp.
#pragma once

#include "core/json.hpp"
#include "platform/platform.hpp"

namespace weir {

Json node_type_to_json(const NodeType& type);
Result<NodeType> node_type_from_json(const Json& json, const std::string& where);

}  // namespace weir
