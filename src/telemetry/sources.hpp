// The sources there are, one file each; source_table() lists them.
#pragma once

#include <memory>

#include "telemetry/source.hpp"

namespace weir::telemetry {

std::unique_ptr<Source> make_lustre_server_source(const SourceSetting& setting);
std::unique_ptr<Source> make_lustre_target_source(const SourceSetting& setting);
std::unique_ptr<Source> make_lustre_job_source(const SourceSetting& setting);
std::unique_ptr<Source> make_tofu_source(const SourceSetting& setting);
std::unique_ptr<Source> make_infiniband_source(const SourceSetting& setting);
std::unique_ptr<Source> make_slingshot_source(const SourceSetting& setting);
std::unique_ptr<Source> make_network_source(const SourceSetting& setting);
std::unique_ptr<Source> make_block_source(const SourceSetting& setting);
std::unique_ptr<Source> make_host_source(const SourceSetting& setting);

// The names in a folder, sorted; none if it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace weir::telemetry
