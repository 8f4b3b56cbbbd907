// weir record: the file-access pattern of a program, without a change to it.
#include <memory>

#include "commands.hpp"
#include "record.hpp"

namespace weir::cli {

void add_record_command(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("record", "Record which bytes of which files each rank of a program touches");
  struct Arguments {
    RecordRequest request{.output = "weir.pattern"};
    std::string show;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("-o,--output", arguments->request.output, "The recording")
      ->option_text("FILE")
      ->capture_default_str();
  command->add_option("--show", arguments->show, "Tell what is in a recording, and run nothing")
      ->option_text("FILE");
  command->add_flag("--json", arguments->request.json, "Print what was recorded as JSON");
  command->add_flag("-q,--quiet", arguments->request.quiet, "Print nothing but errors");
  command
      ->add_option("program", arguments->request.words,
                   "The launcher, its options, the program and its arguments, behind --")
      ->option_text("COMMAND...");
  command->footer(
      "The program runs as always, with libweir-mpiio.so loaded before its MPI library. It may be written in "
      "C, C++,\n"
      "Fortran or Python, and use HDF5, PnetCDF or ADIOS2; it must use MPI-IO and end by MPI_Finalize. The "
      "exit code is\n"
      "the program's; 1 if it made no recording.\n"
      "\n"
      "Examples:\n"
      "  weir record -o tile.pattern -- mpirun -n 16 ./app input.nml\n"
      "  weir record -o tile.pattern -- srun -n 256 ./app\n"
      "  weir record --show tile.pattern --json\n"
      "  weir plan --pattern tile.pattern --platform cluster.json    what to do with it");
  command->callback([arguments, &context] {
    if (!arguments->show.empty()) {
      if (!arguments->request.words.empty()) {
        context.exit_code = report(fail(ErrorCode::invalid_argument, "--show runs no program"));
        return;
      }
      context.exit_code = report(show_recording(arguments->show, arguments->request.json));
      return;
    }
    const auto code = record(arguments->request);
    context.exit_code = code ? *code : report(tl::make_unexpected(code.error()));
  });
}

}  // namespace weir::cli
