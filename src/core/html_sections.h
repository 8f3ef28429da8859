// SPDX-License-Identifier: Apache-2.0
// The sections of the HTML report that show times.
#pragma once

#include "core/html_page.h"
#include "stab/core/result.h"

namespace stab {

/// Each of them adds nothing where there is nothing to show.
void add_backends(const Result& result, HtmlPage& page);
void add_plans(const Result& result, HtmlPage& page);
void add_operations(const Result& result, HtmlPage& page);
void add_samples(const Result& result, HtmlPage& page);
void add_copies(const Result& result, HtmlPage& page);

}  // namespace stab
