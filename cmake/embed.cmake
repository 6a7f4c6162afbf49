# cmake -DIN=page.html -DOUT=page.c -DNAME=page -P embed.cmake: a C file with the bytes of a file, ended by a zero.
file(READ "${IN}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "extern const unsigned char ${NAME}[];\nconst unsigned char ${NAME}[] = {${bytes}0x00};\n")
