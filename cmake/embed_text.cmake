# SPDX-License-Identifier: Apache-2.0
# Script mode: writes HEADER and SOURCE with the text of FILES as string views. Text is split into pieces
# because compilers limit the length of a literal.
string(REPLACE "\\;" ";" FILES "${FILES}")
set(declarations "")
set(definitions "")
set(lookups "")
foreach(file IN LISTS FILES)
  get_filename_component(file_name ${file} NAME)
  set(name ${file_name})
  string(REPLACE "." "_" name ${name})
  file(READ ${file} text)
  set(pieces "")
  string(LENGTH "${text}" length)
  set(position 0)
  while(position LESS length)
    string(SUBSTRING "${text}" ${position} 8000 piece)
    string(APPEND pieces "R\"TUTTI_TEXT(${piece})TUTTI_TEXT\"\n")
    math(EXPR position "${position} + 8000")
  endwhile()
  string(APPEND declarations "extern const std::string_view ${name};\n")
  string(APPEND definitions "const std::string_view ${name} =\n${pieces};\n")
  string(APPEND lookups "  if (file == \"${file_name}\") return ${name};\n")
endforeach()
file(WRITE ${HEADER} "// Generated. Text of the kernel files.
#pragma once
#include <string_view>
namespace tutti::${NAMESPACE} {
${declarations}
// The text of the file of that name, or none.
std::string_view text_of(std::string_view file);
}  // namespace tutti::${NAMESPACE}
")
file(WRITE ${SOURCE} "#include \"embedded_${NAMESPACE}.hpp\"
namespace tutti::${NAMESPACE} {
${definitions}
std::string_view text_of(std::string_view file) {
${lookups}  return {};
}
}  // namespace tutti::${NAMESPACE}
")
