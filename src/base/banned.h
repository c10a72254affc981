/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that this code base does not use become compile errors; included by the build on the
 * command line after the system headers. Use base/str.h's parsers, snprintf, base/clock.h instead.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strtok strcpy strcat sprintf vsprintf gmtime localtime asctime ctime gets
#pragma GCC poison atoi atol atoll sscanf strtol strtoul strtoll strtoull strncpy tmpnam
