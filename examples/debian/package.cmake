# Debian packages: cpack -G DEB in the build folder, after a build. next-id is the program with its service; libnext-id0 is what
# programs need that use the client library, libnext-id-dev what they need to be built.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME next-id)
set(CPACK_PACKAGE_CONTACT "the next-id authors <next-id@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development)
if(NEXT_ID_SIDECAR)
    list(APPEND CPACK_COMPONENTS_ALL server)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME next-id)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS adduser)
set(CPACK_COMPONENT_SERVER_DESCRIPTION "Unique 64-bit IDs from a PostgreSQL sequence
 A small server that runs beside an application, reserves IDs ahead of need and
 answers from memory, over a Unix socket and HTTP. No ID is given out twice.")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/conffiles ${CMAKE_CURRENT_LIST_DIR}/postinst
    ${CMAKE_CURRENT_LIST_DIR}/prerm ${CMAKE_CURRENT_LIST_DIR}/postrm)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libnext-id${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Client library of next-id
 Unique 64-bit IDs from the next-id server beside a program, for C++ and C.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libnext-id-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Client library of next-id: headers
 What programs in C++ or C need to be built with the client library of next-id.")
include(CPack)

# What only a Debian package has: its license in each, and settings that are the operator's to change.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} name)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME}
        RENAME copyright COMPONENT ${component})
endforeach()
if(NEXT_ID_SIDECAR)
    install(CODE "if(CMAKE_INSTALL_PREFIX STREQUAL /usr AND NOT EXISTS \"\$ENV{DESTDIR}/etc/next-id/environment\")
        file(INSTALL DESTINATION /etc/next-id TYPE FILE PERMISSIONS OWNER_READ OWNER_WRITE FILES \"${CMAKE_CURRENT_LIST_DIR}/environment\")
    endif()" COMPONENT server)
endif()
