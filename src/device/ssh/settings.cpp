// SPDX-License-Identifier: Apache-2.0
#include "ssh/settings.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "child_process.h"
#include "ssh/target.h"

namespace stab {
namespace {

using Values = std::multimap<std::string, std::string, std::less<>>;

constexpr std::chrono::seconds k_config_limit{15};  // `Match exec` of ssh_config runs programs
constexpr std::array<std::string_view, 3> k_default_keys{"id_ed25519", "id_ecdsa", "id_rsa"};
constexpr std::array<std::string_view, 4> k_algorithm_lists{"hostkeyalgorithms", "kexalgorithms",
                                                            "ciphers", "macs"};

/// "key value" lines; the key ends at the first blank.
Values parse_lines(std::string_view text) {
  Values values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    values.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  return values;
}

std::string first(const Values& values, std::string_view key, std::string fallback = {}) {
  const auto found = values.find(key);
  return found == values.end() ? fallback : found->second;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Replaces ssh_config's tokens, as far as they make sense here, and ${VARIABLE} and a leading `~`
/// in paths.
class Expander {
 public:
  Expander(const SshSettings& settings, const SshSurroundings& around)
      : around_(around),
        tokens_{{'%', "%"},
                {'d', around.home},
                {'h', settings.host},
                {'k', settings.host_key_alias.empty() ? settings.host : settings.host_key_alias},
                {'n', settings.name},
                {'p', std::to_string(settings.port)},
                {'r', settings.user},
                {'u', around.user}} {}

  std::string command(std::string_view text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto token =
          text[at] == '%' && at + 1 < text.size() ? tokens_.find(text[at + 1]) : tokens_.end();
      if (token == tokens_.end()) {
        result += text[at];
      } else {
        result += token->second;
        ++at;
      }
    }
    return result;
  }

  std::string path(std::string_view text) const {
    std::string result = variables(text);
    if (result.starts_with("~/")) result = around_.home + result.substr(1);
    result = command(result);
    const std::string real = around_.home + "/.ssh/";
    if (around_.own_ssh_dir && result.starts_with(real)) {
      result = around_.ssh_dir + "/" + result.substr(real.size());
    }
    return result;
  }

  std::vector<std::string> paths(std::string_view list) const {
    std::vector<std::string> result;
    for (const std::string& part : split(list, ' ')) {
      if (part != "none") result.push_back(path(part));
    }
    return result;
  }

 private:
  std::string variables(std::string_view text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::size_t end = text.substr(at).starts_with("${") ? text.find('}', at) : text.npos;
      if (end == text.npos) {
        result += text[at];
      } else {
        result += around_.variable(std::string(text.substr(at + 2, end - at - 2))).value_or("");
        at = end;
      }
    }
    return result;
  }

  const SshSurroundings& around_;
  std::map<char, std::string> tokens_;
};

/// The arguments that lead `ssh` to the same configuration as ours.
std::vector<std::string> config_arguments(const SshSurroundings& around) {
  if (!around.own_ssh_dir) return {};
  const std::string config = around.ssh_dir + "/config";
  std::error_code ignored;
  return {"-F", std::filesystem::exists(config, ignored) ? config : "none"};
}

/// `ssh -W` by way of the jump hosts; ssh takes care of those before the last with -J.
std::vector<std::string> jump_command(const std::string& jumps, const SshSettings& settings,
                                      const SshSurroundings& around) {
  const std::vector<std::string> hops = split(jumps, ',');
  if (hops.empty()) return {};
  const SshTarget last = parse_ssh_target(hops.back());
  std::vector<std::string> argv{"ssh", "-o", "BatchMode=yes"};
  for (std::string& word : config_arguments(around)) argv.push_back(std::move(word));
  if (last.user) argv.insert(argv.end(), {"-l", *last.user});
  if (last.port) argv.insert(argv.end(), {"-p", std::to_string(*last.port)});
  if (hops.size() > 1) {
    argv.insert(argv.end(), {"-J", jumps.substr(0, jumps.size() - hops.back().size() - 1)});
  }
  argv.insert(argv.end(),
              {"-W", "[" + settings.host + "]:" + std::to_string(settings.port), "--", last.host});
  return argv;
}

std::string agent_socket(const std::string& configured, const Expander& expand,
                         const SshSurroundings& around) {
  if (configured == "none") return {};
  if (configured.empty() || configured == "SSH_AUTH_SOCK") {
    return around.variable("SSH_AUTH_SOCK").value_or("");
  }
  if (configured.starts_with('$') && !configured.starts_with("${")) {
    return around.variable(configured.substr(1)).value_or("");
  }
  return expand.path(configured);
}

/// Key files: those that somebody named, and those that ssh tries by itself.
void set_identities(SshSettings& settings, const Values& values, const SshOptions& options,
                    const Expander& expand, const SshSurroundings& around) {
  std::vector<std::string> defaults;
  for (const std::string_view key : k_default_keys) {
    defaults.push_back(around.ssh_dir + "/" + std::string(key));
  }
  if (options.identity) settings.identities.push_back(*options.identity);
  const auto [begin, end] = values.equal_range("identityfile");
  for (auto entry = begin; entry != end; ++entry) {
    const std::string file = expand.path(entry->second);
    const bool ours = std::find(settings.identities.begin(), settings.identities.end(), file) !=
                      settings.identities.end();
    // ssh lists its defaults (among them kinds of keys that we do not know) when nothing is
    // configured.
    const bool is_default =
        file.starts_with(around.ssh_dir + "/id_") && entry->second.starts_with("~/.ssh/id_");
    if (!ours && !is_default && file != "none") settings.identities.push_back(file);
    if (is_default && std::find(defaults.begin(), defaults.end(), file) != defaults.end()) {
      settings.default_identities.push_back(file);
    }
  }
  if (begin == end) settings.default_identities = defaults;
}

void set_proxy(SshSettings& settings, const Values& values, const Expander& expand,
               const SshSurroundings& around) {
  const std::string command = first(values, "proxycommand", "none");
  const std::string jump = first(values, "proxyjump", "none");
  if (command != "none") {
    settings.proxy_command = expand.command(command);
  } else if (jump != "none") {
    settings.proxy_jump = jump_command(expand.command(jump), settings, around);
  }
}

void set_host_key_policy(SshSettings& settings, const Values& values, const SshOptions& options,
                         const Expander& expand, const SshSurroundings& around) {
  settings.known_hosts = expand.paths(first(values, "userknownhostsfile"));
  if (values.find("userknownhostsfile") == values.end()) {
    settings.known_hosts = {around.ssh_dir + "/known_hosts"};
  }
  settings.global_known_hosts = expand.paths(first(values, "globalknownhostsfile"));
  if (values.empty()) settings.global_known_hosts = {"/etc/ssh/ssh_known_hosts"};
  const std::string strict = first(values, "stricthostkeychecking");
  // "off" adds new keys without a question, too; that it lets changed ones pass is not for us.
  settings.accept_new = options.accept_new_host_key || strict == "accept-new" || strict == "no" ||
                        strict == "off" || strict == "false";
  settings.hash_known_hosts = first(values, "hashknownhosts") == "yes";
}

bool is_missing(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return false;
  }
  return true;
}

std::vector<std::string> ssh_g_command(const SshOptions& options, const SshTarget& target,
                                       const SshSurroundings& around) {
  std::vector<std::string> argv{"ssh", "-G"};
  for (std::string& word : config_arguments(around)) argv.push_back(std::move(word));
  const auto& user = options.user ? options.user : target.user;
  const auto& port = options.port ? options.port : target.port;
  if (user) argv.insert(argv.end(), {"-l", *user});
  if (port) argv.insert(argv.end(), {"-p", std::to_string(*port)});
  argv.insert(argv.end(), {"--", target.host});
  return argv;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.find_last_of('\n') + 1);
}

}  // namespace

std::string SshSettings::address() const {
  return to_string(SshTarget{user, name, port});
}

SshSurroundings ssh_surroundings() {
  SshSurroundings around;
  // Like ssh, by the password database and not by $HOME.
  if (const passwd* entry = getpwuid(getuid()); entry != nullptr) {
    around.home = entry->pw_dir;
    around.user = entry->pw_name;
  }
  around.ssh_dir = around.home + "/.ssh";
  if (const char* folder = std::getenv("STAB_SSH_DIR"); folder != nullptr && *folder != '\0') {
    around.ssh_dir = folder;
    around.own_ssh_dir = true;
  }
  around.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return around;
}

SshSettings make_ssh_settings(const SshOptions& options, std::string_view ssh_g,
                              const SshSurroundings& around) {
  const SshTarget target = parse_ssh_target(options.host);
  const Values values = parse_lines(ssh_g);
  SshSettings settings;
  settings.name = target.host;
  settings.host = first(values, "hostname", target.host);
  const std::string told_user = first(values, "user", around.user);
  settings.user = options.user.value_or(target.user.value_or(told_user));
  int told_port = 22;
  const std::string port_text = first(values, "port");
  std::from_chars(port_text.data(), port_text.data() + port_text.size(), told_port);
  settings.port = options.port.value_or(target.port.value_or(told_port));
  settings.host_key_alias = first(values, "hostkeyalias");
  settings.identities_only = first(values, "identitiesonly") == "yes";
  int seconds = 0;
  const std::string timeout = first(values, "connecttimeout");
  std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds);
  if (seconds > 0) settings.connect_timeout = std::chrono::seconds(seconds);

  const Expander expand(settings, around);
  settings.agent_socket = agent_socket(first(values, "identityagent"), expand, around);
  set_identities(settings, values, options, expand, around);
  set_proxy(settings, values, expand, around);
  set_host_key_policy(settings, values, options, expand, around);
  for (const std::string_view list : k_algorithm_lists) {
    if (const auto told = values.find(list); told != values.end())
      settings.algorithms.insert(*told);
  }
  return settings;
}

SshSettings resolve_ssh_settings(const SshOptions& options, const StopRequested& stop,
                                 const WarningSink& warn) {
  const SshSurroundings around = ssh_surroundings();
  const SshTarget target = parse_ssh_target(options.host);
  if (is_missing("ssh")) {
    std::error_code ignored;
    if (std::filesystem::exists(around.ssh_dir + "/config", ignored) && warn) {
      warn({"ssh_config_ignored", Severity::warning, around.ssh_dir + "/config",
            "there is no ssh program here to read this file, so only the options count",
            "install an OpenSSH client, or give --port, --user and --identity"});
    }
    return make_ssh_settings(options, {}, around);
  }
  const Captured told = run_captured(ssh_g_command(options, target, around), k_config_limit, stop);
  if (stop && stop()) {
    throw Error(ErrorKind::interrupted, "stopped while connecting to", options.host,
                "you asked for it");
  }
  if (!told.exit.ok()) {
    const std::string words = last_line(told.error);
    throw Error(ErrorKind::device, "cannot read the ssh configuration for", options.host,
                told.exit.how == Exit::How::timed_out ? "'ssh -G' does not come to an end"
                : words.empty()                       ? "'ssh -G' fails"
                                                      : "ssh says: " + words);
  }
  return make_ssh_settings(options, told.output, around);
}

}  // namespace stab
