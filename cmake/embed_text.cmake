# SPDX-License-Identifier: Apache-2.0
# Script mode: writes HEADER and SOURCE with the text of FILES as string views. Text is split into pieces
# because compilers limit the length of a literal.
string(REPLACE "\\;" ";" FILES "${FILES}")
set(declarations "")
set(definitions "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
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
endforeach()
file(WRITE ${HEADER} "// Generated. Text of the kernel files.
#pragma once
#include <string_view>
namespace tutti::${NAMESPACE} {
${declarations}}  // namespace tutti::${NAMESPACE}
")
file(WRITE ${SOURCE} "#include \"embedded_${NAMESPACE}.hpp\"
namespace tutti::${NAMESPACE} {
${definitions}}  // namespace tutti::${NAMESPACE}
")
