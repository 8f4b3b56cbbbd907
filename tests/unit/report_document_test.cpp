// A report as a page, a summary, JSON and files: complete, and harmless whatever the names in it are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "../report/sample_document.hpp"
#include "core/file.hpp"
#include "report/text.hpp"

namespace weir::report::test {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(open) + open.size();
  const auto json = parse_json(page.substr(from, page.find("</script>", from) - from));
  return json ? *json : Json(json.error().message());
}

TEST(ReportDocument, PageIsWholeAndAsksForNothing) {
  const auto page = render_html(several_runs());
  ASSERT_TRUE(page);
  EXPECT_THAT(*page,
              AllOf(StartsWith("<!DOCTYPE html>"), EndsWith("</html>\n"), HasSubstr("default-src 'none'")));
  static const std::regex outside(R"re((src|href)=["'](https?:)?//)re");
  EXPECT_FALSE(std::regex_search(page->begin(), page->begin() + 40000, outside));
  for (const char* marker : {"@TITLE@", "@STYLE@", "@SCRIPT@", "@DATA@", "@ECHARTS@", "@SUMMARY@"})
    EXPECT_THAT(*page, Not(HasSubstr(marker)));
  EXPECT_EQ(html_is_interactive(),
            page->find("Licensed to the Apache Software Foundation") != std::string::npos);
}

TEST(ReportDocument, NoNameLeavesItsPlace) {
  const auto page = render_html(several_runs());
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, AllOf(Not(HasSubstr("<script>document")), Not(HasSubstr("<img src=x"))));
  const Json data = data_of(*page);
  ASSERT_TRUE(data.is_object()) << data;
  EXPECT_THAT(data["jobs"][1]["name"].get<std::string>(), StartsWith("ior</script><script>document.title"));
}

TEST(ReportDocument, MarkersInDataAreData) {
  Document document = one_run();
  document.jobs[0].name = "@STYLE@ @DATA@ @ECHARTS@";
  document.title = "@DATA@";
  const auto page = render_html(document);
  ASSERT_TRUE(page);
  EXPECT_EQ(data_of(*page)["jobs"][0]["name"], "@STYLE@ @DATA@ @ECHARTS@");
  EXPECT_THAT(*page, HasSubstr("<title>@DATA@</title>"));
}

TEST(ReportDocument, BytesThatAreNotTextDoNoHarm) {
  Document document = one_run();
  document.jobs[0].name = "\xff\xfe\xe2\x80\xa8 <b>";
  const auto page = render_html(document);
  ASSERT_TRUE(page);
  EXPECT_TRUE(data_of(*page).is_object());
  EXPECT_THAT(*page, Not(HasSubstr("<b>\"")));
}

TEST(ReportDocument, JsonHasEveryNumber) {
  const Json json = to_json(one_run());
  EXPECT_EQ(json["weir_report"], 1);
  const Json& job = json["jobs"][0];
  EXPECT_EQ(job["figures"]["bytes_written"]["value"], 3298534883328.0);
  EXPECT_TRUE(job["figures"]["gone"]["value"].is_null());
  EXPECT_EQ(job["timelines"][0]["series"][0]["values"].size(), 120U);
  EXPECT_TRUE(job["timelines"][0]["series"][0]["values"][60].is_null());
  EXPECT_EQ(job["heat_maps"][0]["values"].size(), 192U);
  EXPECT_TRUE(job["heat_maps"][0]["values"][37].is_null());
  EXPECT_EQ(job["heat_maps"][0]["high"], 160);
  EXPECT_EQ(job["findings"][0]["code"], "uneven-targets");
  EXPECT_TRUE(json["comparison"].is_null());
}

TEST(ReportDocument, PagesOfHugeMapsStaySmall) {
  Document document = one_run();
  HeatMap& map = document.jobs[0].heat_maps[0];
  map.columns.assign(1440, "t");
  map.rows.assign(2000, "o");
  map.values.assign(1440 * 2000, 1.0 / 3);
  const Json compact = to_json(document, {.compact = true});
  EXPECT_LE(compact["jobs"][0]["heat_maps"][0]["values"].size(), 256U * 360U);
  EXPECT_EQ(compact["jobs"][0]["heat_maps"][0]["values"][0].dump(), "0.33333");
  EXPECT_EQ(to_json(document)["jobs"][0]["heat_maps"][0]["values"].size(), map.values.size());
}

TEST(ReportDocument, SummarySaysWhatMattersWithinItsWidth) {
  const std::string text = render_summary(one_run(), {.width = 80});
  EXPECT_THAT(text, AllOf(HasSubstr("Job 4711  ior T:agg=1,rr=1,req=4"), HasSubstr("completed"),
                          HasSubstr("3.0 TiB"), HasSubstr("Half of the targets carry all of the load."),
                          HasSubstr("→ throttle to 4 requests"), HasSubstr("█"), HasSubstr("max ")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    EXPECT_LE(text_columns(text.substr(from, end - from)), 80U) << text.substr(from, end - from);
    from = end + 1;
  }
  EXPECT_THAT(render_summary(one_run(), {.width = 80, .colour = true}), HasSubstr("\x1b[1m"));
}

TEST(ReportDocument, SummaryOfSeveralHasTheVerdictAndNoEscapes) {
  const std::string text = render_summary(several_runs(), {.width = 100});
  EXPECT_THAT(text, AllOf(HasSubstr("A is best"), HasSubstr("chance of being best"), HasSubstr("A  Job 4711"),
                          HasSubstr("B  Job 4712"), HasSubstr("A, B, C: Half of the targets")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ReportDocument, FindingsThatRunsShareAreToldOnceWorstFirst) {
  Document document = several_runs();
  document.jobs[1].findings.erase(document.jobs[1].findings.begin());
  document.jobs[2].findings.push_back({.tone = Tone::plain, .code = "own", .text = "only here"});
  const auto findings = shared_findings(document);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].finding.code, "uneven-targets");
  EXPECT_EQ(findings[0].runs, "A, C");
  EXPECT_EQ(findings[1].runs, "A, B, C");
  EXPECT_EQ(findings[2].runs, "C");
  EXPECT_EQ(run_letter(25), "Z");
  EXPECT_EQ(run_letter(26), "27");
}

TEST(ReportDocument, Sparklines) {
  EXPECT_EQ(sparkline({0, 4, 8}, 10), "▁▄█");
  EXPECT_EQ(sparkline({0, NAN, 8}, 10), "▁ █");
  EXPECT_EQ(text_columns(sparkline(std::vector<double>(1000, 1), 40)), 40U);
  EXPECT_EQ(sparkline({0, 0}, 10), "▁▁");
  EXPECT_EQ(sparkline({}, 10), "");
}

TEST(ReportDocument, FilesHaveHarmlessNamesAndWholeTables) {
  std::string name = (fs::temp_directory_path() / "weir-document-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path folder = fs::path(name) / "new" / "folder";
  Document document = several_runs();
  document.jobs[0].id = "../../../etc/passwd";
  const auto csv = save_csv(document, folder);
  ASSERT_TRUE(csv) << csv.error().message();
  for (const fs::path& path : *csv) {
    EXPECT_EQ(path.parent_path(), folder);
    EXPECT_TRUE(fs::exists(path));
  }
  const std::string figures = *read_text(folder / "etc-passwd-figures.csv");
  EXPECT_EQ(figures,
            "figure,value,unit\nbytes_written,3298534883328,bytes\nqueue_depth,132.5,requests\ngone,,\n");
  EXPECT_THAT(*read_text(folder / "4712-time-throughput.csv"), StartsWith("time (s),write,read\n0,"));
  EXPECT_THAT(*read_text(folder / "comparison-scores.csv"), HasSubstr("A,1.33,94 %"));
  if (const auto png = save_png(document, folder); png) {
    EXPECT_EQ(png->size(), 3U * 5 + 1);
  } else {
    EXPECT_EQ(png.error().code, ErrorCode::unsupported);
  }
  fs::remove_all(name);
}

TEST(ReportDocument, AFolderThatCannotBeMadeIsNamed) {
  const auto saved = save_csv(one_run(), "/proc/nowhere");
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message(), HasSubstr("/proc/nowhere"));
}

}  // namespace

}  // namespace weir::report::test
