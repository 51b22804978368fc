# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, the digits sample, with results in OUT: a short training must reach 0.96, end with the line
# that scripts read, and leave report and weights; wrong input must end in one line and status 1 or 2.
set(out ${OUT})
file(REMOVE_RECURSE ${out})

execute_process(COMMAND ${PROGRAM} --epochs 12 --out ${out}
  OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
message("${text}${errors}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "digits ended with status ${status}")
endif()
if(NOT text MATCHES "\ntest accuracy: (0\\.[0-9][0-9][0-9][0-9])\n$")
  message(FATAL_ERROR "the last line is not the accuracy")
endif()
set(printed ${CMAKE_MATCH_1})
if(printed LESS 0.96)
  message(FATAL_ERROR "test accuracy ${printed} is below 0.96")
endif()
string(REGEX MATCHALL "\nepoch +[0-9]+/12  loss [0-9.]+  accuracy [0-9.]+  test [0-9.]+  [0-9.]+ ms"
  epochs "${text}")
list(LENGTH epochs count)
if(NOT count EQUAL 12)
  message(FATAL_ERROR "${count} lines of epochs, expected 12")
endif()
foreach(file loss.svg accuracy.svg confusion.svg metrics.json report.html weights.safetensors)
  if(NOT EXISTS ${out}/${file})
    message(FATAL_ERROR "${file} was not written")
  endif()
endforeach()
file(READ ${out}/metrics.json metrics)
string(JSON epochs GET "${metrics}" epochs)
string(JSON accuracy GET "${metrics}" results test_accuracy)
string(SUBSTRING "${accuracy}0000" 2 4 told)
string(SUBSTRING "${printed}" 2 4 shown)
math(EXPR difference "1${told} - 1${shown}")  # rounding
if(NOT epochs EQUAL 12 OR difference GREATER 1 OR difference LESS -1)
  message(FATAL_ERROR "metrics.json has ${epochs} epochs and accuracy ${accuracy}, not ${printed}")
endif()

# expect_failure(STATUS TEXT ARGUMENT...)
function(expect_failure expected what)
  execute_process(COMMAND ${PROGRAM} ${ARGN}
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL expected OR NOT text STREQUAL "" OR NOT errors MATCHES "^digits: [^\n]+\n$"
     OR NOT errors MATCHES "${what}")
    message(FATAL_ERROR "digits ${ARGN}: status ${status}, expected ${expected}, and one line with "
      "\"${what}\"; got \"${text}\" and \"${errors}\"")
  endif()
endfunction()

file(WRITE ${out}/bad/digits.csv.gz "1,2,3\n4,x,6\n")
file(WRITE ${out}/narrow/digits.csv.gz "1,2,3\n")
file(WRITE ${out}/file "")
expect_failure(2 "--epochs" --epochs 0)
expect_failure(2 "--epochs" --epochs many)
expect_failure(2 "--batch" --batch -5)
expect_failure(2 "--no-such-option" --no-such-option)
expect_failure(1 "no_such_backend" --device no_such_backend)
expect_failure(1 "cannot find digits.csv.gz" --data ${out}/absent)
expect_failure(1 "line 2, column 2: expected a number" --data ${out}/bad)
expect_failure(1 "3 columns, expected 64 pixels and a label" --data ${out}/narrow)
expect_failure(1 "cannot make the folder" --out ${out}/file/below)
