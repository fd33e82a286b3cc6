# Makes our comments those of Doxygen: lines of // before a name, and // behind a member. What
# Doxygen would take for commands of its own is escaped.
s|^( *)// |\1/// |
s|^( *)//$|\1///|
s|([;{,}]) +// |\1 ///< |
/\/\/\//{
  s|\\([a-z])|\\\\\1|g
  s|([@#])([a-z])|\\\1\2|g
}
