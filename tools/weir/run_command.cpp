// weir run: a program, under a plan or as it is, as a job whose I/O is recorded.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "bound_program.hpp"
#include "command_words.hpp"
#include "commands.hpp"
#include "core/file.hpp"
#include "launch.hpp"
#include "mapping_options.hpp"
#include "plan/plan_json.hpp"
#include "plan/render.hpp"
#include "platform/host_list.hpp"
#include "preload.hpp"
#include "recorded_launch.hpp"
#include "run_collective.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

struct Arguments {
  MappingArguments mapping;
  std::string plan;
  bool summary = false;
  bool dry_run = false;
  bool as_rank = false;    // by our own launch, see bound_program.hpp
  std::string collective;  // how Weir carries out collective calls; empty: the MPI library does
  RecordingArguments recording;
  std::vector<std::string> program;
};

// A folder for the plan and the rank file, removed with what is in it.
class Folder {
 public:
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  // Ranks on other nodes read the plan too: then it is in the current folder, which they are likely to share.
  Status make(bool shared) {
    const char* base = std::getenv("TMPDIR");
    std::string path = shared                             ? fs::current_path().string() + "/.weir-run-XXXXXX"
                       : base == nullptr || *base == '\0' ? "/tmp/weir-run-XXXXXX"
                                                          : fs::absolute(base).string() + "/weir-run-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "create a folder", path);
    path_ = path;
    return {};
  }
  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A saved plan, for this machine or for nodes like it.
Result<Plan> replay_plan(const Arguments& arguments) {
  const LayoutRequest& layout = arguments.mapping.layout;
  if (layout.compute_per_server != 1 || layout.own_nodes || layout.node_size != 0)
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--plan {} has the servers: --ratio, --own-nodes and --node-size are for --mapping",
                    arguments.plan));
  WEIR_ASSIGN(Plan plan, in(load_plan(arguments.plan), "--plan"));
  if (plan.ranks == 0) {
    if (arguments.mapping.layout.compute == 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--plan {}: the plan does not say how many ranks there are", arguments.plan),
                  "add -n");
    }
    plan.ranks = arguments.mapping.layout.compute;
    return plan;
  }
  if (arguments.mapping.layout.compute != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--plan {} is for {} ranks, so -n cannot be given", arguments.plan, plan.ranks));
  }
  WEIR_ASSIGN(Platform platform, platform_for(arguments.mapping));
  std::vector<Host> hosts;
  for (const std::string& host : plan.placement.hosts) hosts.push_back({.name = host});
  if (!hosts.empty()) WEIR_TRY(use_hosts(platform, hosts));
  WEIR_TRY(in(check(plan, plan.ranks, platform), "--plan", arguments.plan));
  return plan;
}

std::string who(const Plan& plan) {
  const std::size_t servers = plan.roles.servers.size();
  const std::size_t compute = plan.ranks - servers;
  std::string text = fmt::format("{} compute rank{}", compute, compute == 1 ? "" : "s");
  if (servers != 0) text += fmt::format(" and {} I/O server{}", servers, servers == 1 ? "" : "s");
  return text;
}

void print_command(const Launch& job) {
  for (const auto& [name, value] : job.environment) fmt::print("{}={} ", name, shell_quoted(value));
  for (std::size_t i = 0; i < job.words.size(); ++i)
    fmt::print("{}{}", shell_quoted(job.words[i]), i + 1 == job.words.size() ? "\n" : " ");
}

// A program as it is, launcher and all: watched, and its collective calls carried out if wanted.
Result<int> run_as_it_is(const Arguments& arguments) {
  Launch job{.words = arguments.program};
  RecordingArguments recording = arguments.recording;
  if (!arguments.collective.empty()) {
    WEIR_ASSIGN(auto variables, collective_environment(arguments.collective));
    WEIR_ASSIGN(const Preloaded command, preloaded(arguments.program, std::move(variables)));
    job.words = command.words;
    job.environment = command.environment;
    if (recording.configuration.empty()) recording.configuration = "collective " + arguments.collective;
  }
  if (arguments.summary) job.environment["WEIR_SUMMARY"] = "1";
  if (arguments.dry_run) {
    print_command(job);
    return 0;
  }
  const PassSignalsOn while_running;
  Folder folder;
  WEIR_TRY(folder.make(false));
  const std::string summary_file = folder.file("sessions.json");
  job.environment["WEIR_SUMMARY_FILE"] = summary_file;
  recording.folder = folder.path();
  return launch_recorded(job, recording, arguments.program, summary_file, while_running);
}

Result<int> run(const Arguments& arguments) {
  if (!arguments.plan.empty() && !arguments.mapping.layout.mapping.empty())
    return fail(ErrorCode::invalid_argument, "--mapping and --plan: only one of them can be given");
  if (arguments.program.empty())
    return fail(ErrorCode::invalid_argument, "no program: give it behind --, as in 'weir run ... -- ./app'");
  if (arguments.as_rank) {
    WEIR_TRY(become_bound(arguments.program));
    return 0;
  }
  WEIR_TRY(check(arguments.recording));
  const bool replay = !arguments.plan.empty();
  if (!replay && arguments.mapping.layout.mapping.empty()) {
    if (const std::string words = words_of(arguments.mapping); !words.empty()) {
      return fail(
          ErrorCode::invalid_argument, fmt::format("{}: that is for programs that Weir launches", words),
          "say where the I/O happens by --mapping or --plan, or start the launcher yourself: weir run -- "
          "mpirun -n 4 ./app");
    }
    return run_as_it_is(arguments);
  }
  WEIR_ASSIGN(const Plan plan, replay ? replay_plan(arguments) : plan_for(arguments.mapping));

  // First, so that nothing is left behind whenever a signal comes.
  const PassSignalsOn while_running;
  Folder folder;
  if (!arguments.dry_run) WEIR_TRY(folder.make(plan.placement.hosts.size() > 1));
  const std::string rank_file = arguments.dry_run ? "RANKFILE" : folder.file("rankfile");
  const std::string plan_file = replay              ? fs::absolute(arguments.plan).string()
                                : arguments.dry_run ? "PLAN"
                                                    : folder.file("plan.json");
  Launch job{.environment = {{"WEIR_PLAN", plan_file}},
             .share_cores = plan.placement.oversubscribe || plan.placement.pus_of.empty(),
             .is_launcher = true};
  if (arguments.summary) job.environment["WEIR_SUMMARY"] = "1";
  const std::string summary_file = folder.file("sessions.json");
  if (!arguments.dry_run) job.environment["WEIR_SUMMARY_FILE"] = summary_file;
  if (!arguments.collective.empty()) {
    WEIR_ASSIGN(auto more, collective_environment(arguments.collective));
    WEIR_ASSIGN(more["LD_PRELOAD"], mpiio_library());
    job.environment.merge(more);
  }
  if (plan.mode != Mode::synchronous) allow_threads(job.environment);
  std::vector<std::string> variables = own_variables();
  for (const auto& [name, value] : job.environment) {
    if (!std::ranges::count(variables, name)) variables.push_back(name);
  }
  WEIR_ASSIGN(const LauncherCommand launcher, launcher_for(plan, rank_file, variables));
  job.words = launcher.words;
  if (!launcher.binds && !plan.placement.pus_of.empty()) {
    WEIR_ASSIGN(const auto binding, binding_words());
    job.words.insert(job.words.end(), binding.begin(), binding.end());
  }
  job.words.insert(job.words.end(), arguments.program.begin(), arguments.program.end());

  if (arguments.dry_run) {
    fmt::print("{}", render(plan));
    print_command(job);
    if (!launcher.rank_file.empty()) fmt::print("RANKFILE:\n{}", launcher.rank_file);
    return 0;
  }
  if (!replay) WEIR_TRY(save_plan(plan, plan_file));
  if (!launcher.rank_file.empty()) WEIR_TRY(write_text_atomically(rank_file, launcher.rank_file));
  if (plan.placement.pus_of.empty() && plan.placement.oversubscribe)
    fmt::print(stderr, "weir: {} are more than there are cores: they are not bound, and share them\n",
               who(plan));
  RecordingArguments recording = arguments.recording;
  if (recording.configuration.empty() && !replay) recording.configuration = arguments.mapping.layout.mapping;
  recording.folder = folder.path();
  WEIR_ASSIGN(const int code,
              launch_recorded(job, recording, arguments.program, summary_file, while_running));
  // Every session leaves its figures at its end, and a program that ended well has come to it.
  if (code == 0 && !plan.roles.servers.empty() && !fs::exists(summary_file))
    fmt::print(stderr, "weir: the program started no Weir session: all {} ranks computed\n", plan.ranks);
  return code;
}

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("run", "Run a program as a job that can be reported, under a plan if wanted");
  const auto arguments = std::make_shared<Arguments>();
  add_mapping_options(*command, arguments->mapping);
  command
      ->add_option("--plan", arguments->plan,
                   "A plan saved by 'weir plan --emit json', in place of --mapping")
      ->option_text("FILE");
  command->add_flag("--summary", arguments->summary, "The program prints at its end what its I/O cost");
  RecordingArguments& recording = arguments->recording;
  command->add_flag("--no-record", recording.off, "Do not register the job, and sample no counters");
  command
      ->add_option(
          "--store", recording.store,
          "Where jobs are kept: a file or postgresql://... (default: WEIR_STORE, else the user's own)")
      ->option_text("STORE");
  command->add_option("--name", recording.name, "The job's name (default: the program's)")
      ->option_text("NAME");
  command
      ->add_option("--configuration", recording.configuration,
                   "What this run tries; runs of the same one are repetitions when runs are compared")
      ->option_text("WORDS");
  command->add_option("--interval", recording.interval, "From one sample of the counters to the next")
      ->option_text("TIME")
      ->capture_default_str();
  command
      ->add_option(
          "--sample", recording.sample,
          "Other nodes whose counters are sampled, too: node[1-4]. Default: those of the Slurm job or "
          "the virtual cluster; none: no others")
      ->option_text("HOSTS");
  command
      ->add_option("--reach", recording.reach,
                   "With --sample: the command that runs programs there; {} is the node")
      ->option_text("COMMAND")
      ->capture_default_str();
  command
      ->add_option("--sample-sources", recording.sample_sources,
                   "With --sample: what is sampled there, as weir collect --sources takes it (default: all)")
      ->option_text("LIST");
  command->add_flag("--report", recording.report, "At the end the whole summary, not one line");
  command->add_flag(
      "--collective{auto}", arguments->collective,
      "Collective MPI-IO calls of the unchanged program are carried out by Weir. --collective=CONFIG says "
      "how: T:agg=1,rr=1,req=4 (two-phase), N:req=4 (without), S: (segments), original (not at all), auto. "
      "Keys: agg, rr, req, cb_nodes, buffer, unit, factor, domains");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Print the plan and the launch command, and run nothing");
  command->add_flag("--as-rank", arguments->as_rank)->group("");
  command->add_option("program", arguments->program, "The program and its arguments, behind --")
      ->option_text("PROGRAM...");
  command->footer(
      mappings_help() +
      "\n"
      "The job and its counters go to a store, from which 'weir report' tells about it. "
      "The exit code is the program's. The plan reaches it by WEIR_PLAN. On several hosts the plan is put "
      "into "
      "the\ncurrent folder, which they must share.\n"
      "\n"
      "Examples:\n"
      "  weir run -- mpirun -n 4 ./app && weir report last         a program as it is, and what its I/O did\n"
      "  weir run -- tools/vcluster run -n 4 -- ./app              the links of every node, too\n"
      "  weir run --sample io[1-4] --reach 'ssh {}' -- mpirun -n 4 ./app\n"
      "  weir run --mapping consecutive -n 4 -- ./app input.nml    4 compute ranks and 4 I/O servers\n"
      "  weir run --mapping consecutive -n 12 --ratio 4 --summary -- ./app\n"
      "  weir run --mapping thread -n 4 -- ./app                   an I/O thread in every rank\n"
      "  weir run --mapping consecutive -n 64 --hosts node[1-8] -- ./app\n"
      "  weir run --collective -- mpirun -n 16 ./app               its collective MPI-IO calls by Weir\n"
      "  weir run --collective=T:rr=1,req=2 -- mpirun -n 16 ./app\n"
      "  weir run --mapping hyperthread -n 4 --dry-run -- ./app    show what would be done\n"
      "  weir plan --mapping consecutive -n 4 --json -o plan.json; weir run --plan plan.json -- ./app");
  command->callback([arguments, &context] {
    const auto code = run(*arguments);
    context.exit_code = code ? *code : report(tl::make_unexpected(code.error()));
  });
}

}  // namespace weir::cli
