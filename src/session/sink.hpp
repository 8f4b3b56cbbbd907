// What a weir::File writes through: itself, or somebody else.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "files/output_file.hpp"
#include "offload/remote_file.hpp"

namespace weir::session {

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual std::shared_ptr<offload::Progress> write(const files::WriteRequest& request) = 0;
  virtual std::shared_ptr<offload::Progress> reserve(const files::Heading& heading) = 0;
  // `mine` is what is wrong with the value on this rank.
  virtual std::shared_ptr<offload::Progress> set_attribute(const backends::Attribute& attribute,
                                                           const Status& mine) = 0;
  // `unseen` is a failure that the program has not been told.
  virtual std::shared_ptr<offload::Progress> close(const std::optional<Failure>& unseen, bool later) = 0;
  virtual void give_up() = 0;  // LOCAL
  virtual bool is_open() const = 0;
  virtual const std::string& path() const = 0;
};

class State;

// The ranks of the program write, each call when it is made.
class DirectSink final : public Sink {
 public:
  DirectSink(std::unique_ptr<files::OutputFile> file, State& state);
  ~DirectSink() override;

  std::shared_ptr<offload::Progress> write(const files::WriteRequest& request) override;
  std::shared_ptr<offload::Progress> reserve(const files::Heading& heading) override;
  std::shared_ptr<offload::Progress> set_attribute(const backends::Attribute& attribute,
                                                   const Status& mine) override;
  std::shared_ptr<offload::Progress> close(const std::optional<Failure>& unseen, bool later) override;
  void give_up() override;
  bool is_open() const override { return file_ != nullptr && file_->is_open(); }
  const std::string& path() const override { return path_; }

 private:
  enum class Ranks : std::uint8_t { together, alone };
  std::shared_ptr<offload::Progress> run(const std::function<Status()>& body, Ranks ranks = Ranks::together);

  std::string path_;
  std::unique_ptr<files::OutputFile> file_;  // none: given up
  State& state_;
};

// An I/O server or a thread writes.
class OffloadSink final : public Sink {
 public:
  OffloadSink(std::unique_ptr<offload::RemoteFile> file, int rank) : file_(std::move(file)), rank_(rank) {}

  std::shared_ptr<offload::Progress> write(const files::WriteRequest& request) override {
    return file_->write(request, rank_);
  }
  std::shared_ptr<offload::Progress> reserve(const files::Heading& heading) override {
    return file_->reserve(heading, rank_);
  }
  std::shared_ptr<offload::Progress> set_attribute(const backends::Attribute& attribute,
                                                   const Status& mine) override {
    return file_->set_attribute(attribute, rank_, mine);
  }
  std::shared_ptr<offload::Progress> close(const std::optional<Failure>& unseen, bool later) override {
    return file_->close(unseen, later);
  }
  void give_up() override { file_->give_up(rank_); }
  bool is_open() const override { return file_->is_open(); }
  const std::string& path() const override { return file_->path(); }

 private:
  std::unique_ptr<offload::RemoteFile> file_;
  int rank_;
};

}  // namespace weir::session
