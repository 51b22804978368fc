// SPDX-License-Identifier: Apache-2.0
//
// Symbol visibility. TUTTI_API marks functions for applications; everything else in the library is
// hidden. TUTTI_INTERNAL_API marks functions that only the project's own tools and tests use: they
// are exported, but neither documented nor stable.
//
// Every public C++ header includes this one, so it also checks the C++ version.
#pragma once

#if __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#error "Tutti needs C++20: compile with -std=c++20, or link Tutti::tutti, which asks for it"
#endif

#if defined(_WIN32)
#if defined(TUTTI_BUILDING_LIBRARY)
#define TUTTI_API __declspec(dllexport)
#else
#define TUTTI_API __declspec(dllimport)
#endif
#else
#define TUTTI_API __attribute__((visibility("default")))
#endif

#define TUTTI_INTERNAL_API TUTTI_API
