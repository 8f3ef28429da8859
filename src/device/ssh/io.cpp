// SPDX-License-Identifier: Apache-2.0
#include "ssh/io.h"

#include <libssh/server.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace stab {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds k_longest_poll{1000};
constexpr milliseconds k_last_signal_limit{3000};
constexpr microseconds k_near{5'000};
constexpr microseconds k_slow_board{15'000};  // an answer in this time may be all computing
// What sshd has not read yet it copies again and again while its buffer grows, so a near one is fed
// in smaller pieces; it opens its window in steps of 96 KB, so they must not be much smaller. A far
// one needs all that its window takes.
constexpr std::uint32_t k_near_openssh_in_flight = 512 * 1024;

/// The time of the TCP handshake, or the kernel's own shortest measure.
microseconds tcp_round_trip(const SshRoute& route) {
  tcp_info info{};
  socklen_t size = sizeof info;
  microseconds time = route.connect_time;
  if (route.connect_time.count() > 0 &&
      getsockopt(route.socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
      info.tcpi_min_rtt > 0) {
    time = std::min(time, microseconds(info.tcpi_min_rtt));
  }
  return time;
}

}  // namespace

SshIo::SshIo(std::unique_ptr<SshSession> session, const SshLimits& limits)
    : limits_(limits),
      wake_(std::make_shared<Descriptor>(make_event())),
      session_(std::move(session)),
      connect_time_(tcp_round_trip(session_->route())),
      thread_([this] { loop(); }) {}

SshIo::~SshIo() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  raise_event(*wake_);
  thread_.join();
}

std::shared_ptr<Relay> SshIo::open(std::string command_line, bool with_input) {
  auto relay = std::make_shared<Relay>([wake = wake_] { raise_event(*wake); });
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back({relay, std::move(command_line), with_input, 0});
  }
  raise_event(*wake_);
  return relay;
}

void SshIo::prefer_aes() {
  const std::lock_guard lock(mutex_);
  prefer_aes_ = true;  // before the next command is early enough
}

microseconds SshIo::round_trip() const {
  const std::lock_guard lock(mutex_);
  // A proxy or a forwarder near us hides the distance from TCP; only an answer of the server shows
  // it.
  const bool hidden = answer_time_ && (*answer_time_ > k_slow_board || connect_time_.count() == 0);
  return hidden ? *answer_time_ : connect_time_;
}

std::uint32_t SshIo::most_in_flight() const {
  return session_->is_openssh() && round_trip() < k_near ? k_near_openssh_in_flight : 0;
}

void SshIo::note_answer(microseconds time) {
  const std::lock_guard lock(mutex_);
  answer_time_ = std::min(answer_time_.value_or(time), time);
}

void SshIo::loop() {
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const ssh_event event = ssh_event_new();
  ssh_event_add_session(event, session_->get());
  ssh_event_add_fd(event, wake_->get(), POLLIN, [](socket_t, int, void*) { return 0; }, nullptr);
  for (;;) {
    clear_event(*wake_);
    ask_ahead();
    adopt();
    const SshSession::Activity before = session_->activity();
    bool moved = step_all();
    // A channel that reads takes what came for all of them (room in another one's window, say), and
    // sends what was held back: whoever was waiting for that is asked again.
    moved = moved || session_->activity() != before;
    if (finished()) break;
    if (!lost_.empty()) {
      pollfd wait{wake_->get(), POLLIN, 0};
      poll(&wait, 1, -1);
      continue;
    }
    session_->route().acknowledge();
    const int result = ssh_event_dopoll(event, poll_ms(moved));
    if (result == SSH_ERROR || !session_->alive()) {
      lost_ = session_->reason();
    } else {
      watch_silence();
    }
  }
  lose_all("we closed it");
  ssh_event_remove_fd(event, wake_->get());
  ssh_event_remove_session(event, session_->get());
  ssh_event_free(event);
  session_.reset();
}

/// Makes channels of what was asked for.
void SshIo::adopt() {
  std::vector<SshChannel::Job> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
    if (std::exchange(prefer_aes_, false)) session_->prefer_aes();
  }
  for (SshChannel::Job& job : requests) {
    job.most_in_flight = most_in_flight();
    give(std::move(job), channels_);
  }
}

/// On a far link the next command is not to wait for a channel. A server that allows no more of
/// them, or closes idle ones, is not asked again.
void SshIo::ask_ahead() {
  if (!lost_.empty()) return;
  if (ahead_.empty() && may_ask_ahead_ && round_trip() >= k_near)
    ahead_.emplace_back(*session_, limits_);
  bool moved = false;
  if (ahead_.remove_if([&](SshChannel& channel) { return step(channel, moved); }) > 0)
    may_ask_ahead_ = false;
}

/// Puts the job on a channel at the end of `list`.
void SshIo::give(SshChannel::Job job, std::list<SshChannel>& list) {
  ahead_.remove_if([](const SshChannel& channel) { return channel.closed(); });
  if (ahead_.empty()) ahead_.emplace_back(*session_, limits_);
  list.splice(list.end(), ahead_);
  list.back().take(std::move(job));
}

/// Whether anything moved.
bool SshIo::step_all() {
  if (!lost_.empty()) lose_all(lost_);
  bool moved = false;
  for (std::list<SshChannel>* list : {&channels_, &kills_}) {
    list->remove_if([&](SshChannel& channel) { return step(channel, moved); });
  }
  return moved;
}

/// Whether the channel is over.
bool SshIo::step(SshChannel& channel, bool& moved) {
  const bool asked = channel.answer_time().has_value();
  const SshChannel::Step step = channel.step();
  if (!asked && channel.answer_time()) note_answer(*channel.answer_time());
  if (channel.refused()) may_ask_ahead_ = false;
  if (const auto kill = channel.take_kill()) kill_group(*kill);
  moved = moved || step == SshChannel::Step::moved;
  return step == SshChannel::Step::over;
}

void SshIo::kill_group(const SshChannel::Kill& kill) {
  const std::string signal = std::string("kill -") + kill.signal;
  const std::string group = std::to_string(kill.group);
  auto relay = std::make_shared<Relay>([] {});
  relay->end_input();
  // Without a session of its own the command is no group, but a process.
  give({std::move(relay),
        "exec /bin/sh -c '" + signal + " -" + group + " || " + signal + " " + group + "'", true, 0},
       kills_);
}

/// Whether to leave; a last signal gets its time.
bool SshIo::finished() {
  {
    const std::lock_guard lock(mutex_);
    if (!quit_) return false;
  }
  quit_at_ = std::min(quit_at_, Clock::now() + k_last_signal_limit);
  return kills_.empty() || Clock::now() >= quit_at_;
}

void SshIo::watch_silence() {
  const Clock::time_point now = Clock::now();
  if (session_->received() != received_) {
    received_ = session_->received();
    heard_ = now;
  }
  if (now - heard_ > limits_.silence) {
    lost_ = session_->route().peer + " has been silent for " + duration_text(limits_.silence);
  } else if (now - heard_ >= limits_.keepalive && now >= next_keepalive_) {
    // The answer may be a refusal; it is an answer. (Every other call collects the answer to the
    // last one.)
    ssh_send_keepalive(session_->get());
    next_keepalive_ = now + limits_.keepalive / 4;
  }
}

void SshIo::lose_all(const std::string& reason) {
  for (SshChannel& channel : channels_) channel.lose(reason);
  channels_.clear();
  kills_.clear();
  ahead_.clear();
}

int SshIo::poll_ms(bool moved) const {
  if (moved) return 0;
  Clock::time_point due = Clock::now() + std::min(k_longest_poll, limits_.keepalive / 4);
  for (const std::list<SshChannel>* list : {&channels_, &kills_, &ahead_}) {
    for (const SshChannel& channel : *list) due = std::min(due, channel.due());
  }
  due = std::min(due, quit_at_);
  const auto left = std::chrono::ceil<milliseconds>(due - Clock::now()).count();
  return static_cast<int>(std::max<milliseconds::rep>(left, 0));
}

}  // namespace stab
